import type { Fields } from "../../../src/base/json/fields.ts";
import type { RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import type { AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import type { AnswerReader, AskedFor, ModelTarget } from "../../../src/wire/canonical/model/format.ts";
import { EMPTY_REQUEST } from "../../../src/wire/canonical/model/request.ts";
import { readStreams } from "../../support/vendors/recordings.ts";

export const IDENTITY: RelayIdentity = {
  id: "gen_test",
  model: "anthropic/test",
  created: 1_700_000_000,
  originalIds: null,
  makeCallId: () => "call_made",
  onTurn: () => {},
};

export const ASKED: AskedFor = {
  request: { ...EMPTY_REQUEST, messages: [] },
  wantsUsageChunk: false,
  estimatedPromptTokens: 7,
};

export const TARGET: ModelTarget = { name: "claude-test", maxOutputTokens: null, reasoning: null };

/** Recorded streams as they were sent, with event names, bytes as Latin-1. */
export const STREAMS = readStreams("anthropic").map(({ name, text }) => ({
  name,
  text: nameEvents(text.replace("data: [DONE]\n\n", "")),
}));

function nameEvents(text: string): string {
  const named = text.replace(
    /^data: (.*)$/gm,
    (line, json: string) => `event: ${JSON.parse(json).type}\n${line}`,
  );
  return Buffer.from(named, "utf8").toString("latin1");
}

export function stream(...events: readonly Fields[]): string {
  const text = events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Returns all events of a stream that arrives in these pieces. */
export function readAll(reader: AnswerReader, pieces: Iterable<string>): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  for (const piece of pieces) events.push(...reader.step(piece));
  events.push(...reader.end());
  return events;
}

/** Parses the events of a stream that the gateway wrote. */
export function parseStream(latin1: string): { readonly name: string; readonly data: Fields }[] {
  const text = Buffer.from(latin1, "latin1").toString("utf8");
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const match = /^event: (.*)\ndata: (.*)$/.exec(block);
      if (match === null) throw new Error(`no event: ${block}`);
      return { name: match[1] as string, data: JSON.parse(match[2] as string) };
    });
}

/** Returns the blocks of a stream, collected as clients do. Throws for an event out of order. */
export function collectBlocks(latin1: string): Record<string, unknown>[] {
  const blocks: Record<string, unknown>[] = [];
  let open = -1;
  let json = "";
  for (const { name, data } of parseStream(latin1)) {
    if (name === "content_block_start") {
      if (open >= 0 || data["index"] !== blocks.length)
        throw new Error(`block ${data["index"]} starts out of order`);
      open = blocks.push({ ...(data["content_block"] as Fields) }) - 1;
      json = "";
    } else if (name === "content_block_delta") {
      if (data["index"] !== open) throw new Error(`a delta for block ${data["index"]} while ${open} is open`);
      json += appendToBlock(blocks[open] as Record<string, unknown>, data["delta"] as Fields);
    } else if (name === "content_block_stop") {
      if (data["index"] !== open) throw new Error(`block ${data["index"]} stops while ${open} is open`);
      if (json !== "") (blocks[open] as Record<string, unknown>)["input"] = JSON.parse(json);
      open = -1;
    }
  }
  return blocks;
}

function appendToBlock(block: Record<string, unknown>, delta: Fields): string {
  if (delta["type"] === "text_delta") block["text"] = `${block["text"]}${delta["text"]}`;
  if (delta["type"] === "thinking_delta") block["thinking"] = `${block["thinking"]}${delta["thinking"]}`;
  if (delta["type"] === "signature_delta") block["signature"] = delta["signature"];
  if (delta["type"] === "citations_delta") {
    block["citations"] = [...((block["citations"] as unknown[]) ?? []), delta["citation"]];
  }
  if (delta["type"] === "compaction_delta") block["content"] = delta["content"];
  return delta["type"] === "input_json_delta" ? String(delta["partial_json"]) : "";
}
