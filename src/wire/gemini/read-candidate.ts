import { asFields, asObjects, asText, type Fields } from "../../base/json/fields.ts";
import type { AnswerEmitter } from "../canonical/answer/answer-emitter.ts";
import type { Finish } from "../canonical/model/answer.ts";
import { type MediaPart, type Part, REASONING_ORIGINS } from "../canonical/model/parts.ts";
import { failedFinish } from "../conversation/errors/broken-answers.ts";
import { isFailedFinish, isUnexplainedFinish, readBlockReason, readFinish } from "./finish-reason.ts";
import { readCitations } from "./read-citations.ts";
import { readLogprobs } from "./read-logprobs.ts";
import { GeminiPartWriter } from "./write-parts.ts";

/** The finish of a whole candidate that has no finish reason. */
const DEFAULT_FINISH = { native: "STOP", message: "" };

/** Reads one candidate, whole or piece by piece. */
export class CandidateReader {
  private readonly parts: GeminiPartWriter;
  /** The pieces of its text; the offsets of sources refer to all of it. */
  private readonly texts: string[] = [];
  private readonly sources: Record<string, unknown> = {};
  private finish: { readonly native: string; readonly message: string } | null = null;
  private blocked: Finish | null = null;

  constructor(
    private readonly emitter: AnswerEmitter,
    private readonly choice: number,
  ) {
    this.parts = new GeminiPartWriter(emitter, choice);
  }

  get isFinished(): boolean {
    return this.finish !== null || this.blocked !== null;
  }

  read(candidate: Fields): void {
    const value = readLogprobs(candidate["logprobsResult"]);
    if (value !== null) this.emitter.emit({ kind: "logprobs", choice: this.choice, value });
    for (const part of asObjects(asFields(candidate["content"])?.["parts"])) {
      readPart(part, this.parts);
      if (typeof part["text"] === "string" && part["thought"] !== true) this.texts.push(part["text"]);
    }
    addSources(this.sources, candidate);
    this.finish = readReason(candidate) ?? this.finish;
  }

  /** Records that the prompt was blocked, so that there is no candidate. */
  block(reason: string): void {
    this.blocked = readBlockReason(reason);
  }

  /** Ends the candidate. Its finish is emitted here, because Gemini has repeated it in each chunk. */
  end(): void {
    this.parts.addCitations(readCitations(this.sources, this.texts.join("")));
    this.parts.close();
    const { choice, blocked } = this;
    const { native, message } = this.finish ?? DEFAULT_FINISH;
    if (blocked === null && this.hasFailed(native)) {
      this.emitter.fail(failedFinish(native, message === "" ? "" : `: ${message}`));
      return;
    }
    const finish = blocked ?? readFinish(native, this.parts.hasCalls);
    this.emitter.emit({ kind: "finish", choice, finish });
  }

  /** Whether the generation has failed: an answer without content that ended without an explanation is none. */
  private hasFailed(native: string): boolean {
    return isFailedFinish(native) || (!this.parts.hasParts && isUnexplainedFinish(native));
  }
}

function readPart(part: Fields, parts: GeminiPartWriter): void {
  const signature = asText(part["thoughtSignature"]);
  const isThought = part["thought"] === true;
  const call = asFields(part["functionCall"]);
  if (call !== null) parts.addCall(call, signature);
  else if (typeof part["text"] === "string") {
    parts.addText(part["text"], isThought ? "reasoning" : "text", signature);
  } else if (!isThought) {
    // Thoughts that are not text are drafts of images and not part of the answer.
    const whole = readMedia(part, signature) ?? readNative(part);
    if (whole !== null) parts.addWhole(whole);
  }
}

function readReason({ finishReason, finishMessage }: Fields) {
  if (typeof finishReason !== "string") return null;
  return { native: finishReason, message: asText(finishMessage) ?? "" };
}

/** Keeps the sources of a candidate. Those of a later chunk include those of the chunks before it. */
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

/** Reads a part that only Gemini has, such as `executableCode` and `codeExecutionResult`. */
function readNative(part: Fields): Part | null {
  const type = Object.keys(part).find((key) => key !== "thought" && key !== "thoughtSignature");
  return type === undefined ? null : { kind: "native", format: "gemini", type, value: part };
}
