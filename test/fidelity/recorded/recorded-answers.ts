import { asFields, type Fields } from "../../../src/base/json/fields.ts";
import { encodeLatin1 } from "../../../src/base/json/scan.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { UPSTREAM_CODECS } from "../../../src/wire/formats/codecs.ts";
import { encodeLines } from "../../support/clients/event-frames.ts";
import {
  OPENAI_CHAT_FOLDERS,
  readAnswers,
  readLines,
  readStreams,
} from "../../support/vendors/recordings.ts";

/** A recorded answer of a vendor. */
export interface RecordedAnswer {
  readonly name: string;
  readonly format: FormatName;
  /** The whole body; null if it was streamed. */
  readonly whole: Fields | null;
  /** The stream, bytes as Latin-1. */
  readonly stream: string | null;
}

const RESPONSES_FOLDERS = ["openai-responses", "open-responses-responses", "xai-responses", "azure"] as const;

/** Invalid recordings: one lacks a brace, others are joined from two answers. */
const BROKEN = new Set(["openai-responses/parallel-tool-call-wrapper.1.chunks.txt"]);

/** Returns all recordings of answers with their formats. */
export function readRecorded(): RecordedAnswer[] {
  return [
    ...OPENAI_CHAT_FOLDERS.flatMap((folder) => [
      ...wholes(folder, "openai-chat"),
      ...readStreams(folder).map(({ name, text }) => streamed(name, "openai-chat", encodeLatin1(text))),
    ]),
    ...RESPONSES_FOLDERS.flatMap((folder) => [
      ...wholes(folder, "openai-responses"),
      ...eventStreams(folder, "openai-responses", "response.created"),
    ]),
    ...wholes("anthropic", "anthropic-messages"),
    ...eventStreams("anthropic", "anthropic-messages", "message_start"),
    ...wholes("google", "gemini"),
    ...readStreams("google").map(({ name, text }) =>
      streamed(name, "gemini", encodeLatin1(text.replace("data: [DONE]\n\n", ""))),
    ),
    ...wholes("amazon-bedrock", "bedrock-converse"),
    ...readLines("amazon-bedrock").map(({ name, text }) =>
      streamed(name, "bedrock-converse", encodeLines(text)),
    ),
    ...wholes("cohere", "cohere-chat"),
    ...eventStreams("cohere", "cohere-chat", "message-start"),
  ].filter(isAnswer);
}

function streamed(name: string, format: FormatName, stream: string): RecordedAnswer {
  return { name, format, whole: null, stream };
}

function wholes(folder: string, format: FormatName): RecordedAnswer[] {
  return readAnswers(folder).map(({ name, text }) => {
    const whole = JSON.parse(text) as Fields;
    // One of Azure's models uses the chat format.
    const isChat = Array.isArray(whole["choices"]);
    return { name, format: isChat ? "openai-chat" : format, whole, stream: null };
  });
}

/** Returns streams whose events are named after their type. A file with several answers, each beginning with `first`, is split. */
function eventStreams(folder: string, format: FormatName, first: string): RecordedAnswer[] {
  const files = readLines(folder).filter(({ name }) => !BROKEN.has(name));
  const raw = readStreams(folder)
    .filter(({ name }) => name.endsWith(".sse"))
    .map(({ name, text }) => streamed(name, format, encodeLatin1(text)));
  const made = files.flatMap(({ name, text }) => {
    const events = text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as Fields);
    const answers: Fields[][] = [];
    for (const event of events) {
      if (event["type"] === first || answers.length === 0) answers.push([]);
      answers.at(-1)?.push(event);
    }
    return answers.map((own, at) => streamed(`${name}#${at}`, format, encodeEvents(own)));
  });
  return [...raw, ...made];
}

function encodeEvents(events: readonly Fields[]): string {
  return encodeLatin1(
    events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
}

/** Recordings of rejections and of embeddings are not answers. */
function isAnswer({ format, whole, stream }: RecordedAnswer): boolean {
  const codec = UPSTREAM_CODECS[format];
  if (whole !== null) return asFields(whole) !== null && codec.decodeAnswer(whole).kind === "answer";
  const reader = codec.createReader();
  const events = [...reader.step(stream ?? ""), ...reader.end()];
  return events.some(({ kind }) => kind === "finish") && events.every(({ kind }) => kind !== "error");
}
