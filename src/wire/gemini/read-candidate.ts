import type { AnswerEvent, Finish } from "../canonical/answer.ts";
import { type MediaPart, type Part, REASONING_ORIGINS } from "../canonical/parts.ts";
import { brokenAnswer } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { readCitations } from "./citations.ts";
import { isFailedFinish, readBlockReason, readFinish } from "./finish-reason.ts";
import { readLogprobs } from "./logprobs.ts";
import { createPartWriter, type PartWriter } from "./write-parts.ts";

/** Reads one candidate, whole or piece by piece. */
export interface CandidateReader {
  step(candidate: Fields): AnswerEvent[];
  /** The prompt was blocked, so there is no candidate. */
  block(reason: string): void;
  /** All has come. The finish waits until here, because Gemini has repeated it in each chunk. */
  end(): AnswerEvent[];
  readonly isFinished: boolean;
}

export function createCandidateReader(choice: number): CandidateReader {
  const parts = createPartWriter(choice);
  /** All of its text, because sources are told by their place in it. */
  const texts: string[] = [];
  const sources: Record<string, unknown> = {};
  let finish: { readonly native: string; readonly message: string } | null = null;
  let blocked: Finish | null = null;

  const endEvents = (): AnswerEvent[] => {
    if (blocked !== null) return [{ kind: "finish", choice, finish: blocked }];
    const { native, message } = finish ?? UNTOLD;
    if (!isFailedFinish(native)) {
      return [{ kind: "finish", choice, finish: readFinish(native, parts.hasCalls) }];
    }
    const why = message === "" ? "" : `: ${message}`;
    return [{ kind: "error", error: brokenAnswer(`the upstream ended the answer with ${native}${why}`) }];
  };

  return {
    step(candidate) {
      for (const part of listFields(asFields(candidate["content"])?.["parts"])) {
        readPart(part, parts);
        if (typeof part["text"] === "string" && part["thought"] !== true) texts.push(part["text"]);
      }
      addSources(sources, candidate);
      finish = readReason(candidate) ?? finish;
      const value = readLogprobs(candidate["logprobsResult"]);
      const events = parts.takeEvents();
      // Ahead of the text that they are of.
      return value === null ? events : [{ kind: "logprobs", choice, value }, ...events];
    },
    block(reason) {
      blocked = readBlockReason(reason);
    },
    end() {
      parts.addCitations(readCitations(sources, texts.join("")));
      parts.close();
      return [...parts.takeEvents(), ...endEvents()];
    },
    get isFinished() {
      return finish !== null || blocked !== null;
    },
  };
}

/** The finish of a candidate that is known to be whole and does not say why it ended. */
const UNTOLD = { native: "STOP", message: "" };

function readPart(part: Fields, parts: PartWriter): void {
  const signature = typeof part["thoughtSignature"] === "string" ? part["thoughtSignature"] : null;
  const isThought = part["thought"] === true;
  const call = asFields(part["functionCall"]);
  if (call !== null) parts.addCall(call, signature);
  else if (typeof part["text"] === "string") {
    parts.addText(part["text"], isThought ? "reasoning" : "text", signature);
  } else if (!isThought) {
    // A thought that is no text is a sketch on the way to an image, and no answer.
    const whole = readMedia(part, signature) ?? readNative(part);
    if (whole !== null) parts.addWhole(whole);
  }
}

function readReason({ finishReason, finishMessage }: Fields) {
  if (typeof finishReason !== "string") return null;
  return { native: finishReason, message: typeof finishMessage === "string" ? finishMessage : "" };
}

/** Of several in a stream the last one tells all. */
function addSources(sources: Record<string, unknown>, { groundingMetadata, citationMetadata }: Fields): void {
  if (asFields(groundingMetadata) !== null) sources["groundingMetadata"] = groundingMetadata;
  if (asFields(citationMetadata) !== null) sources["citationMetadata"] = citationMetadata;
}

function readMedia(part: Fields, signature: string | null): MediaPart | null {
  const inline = asFields(part["inlineData"]);
  const mediaType = inline?.["mimeType"];
  const data = inline?.["data"];
  if (typeof mediaType !== "string" || typeof data !== "string") return null;
  const [family] = mediaType.split("/");
  const kind = family === "image" || family === "audio" || family === "video" ? family : "file";
  const media = { kind, source: { kind: "base64", mediaType, data } } as const;
  if (signature === null || kind !== "image") return media;
  return { ...media, signature: { value: signature, origin: REASONING_ORIGINS.gemini } };
}

/** What only Gemini has: `executableCode`, `codeExecutionResult` and what comes after them. */
function readNative(part: Fields): Part | null {
  const type = Object.keys(part).find((key) => key !== "thought" && key !== "thoughtSignature");
  return type === undefined ? null : { kind: "native", format: "gemini", type, value: part };
}

function listFields(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields).filter((item) => item !== null) : [];
}
