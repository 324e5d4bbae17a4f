import type { AnswerEvent, Finish, PartDelta } from "../canonical/answer.ts";
import { type MediaPart, type Part, REASONING_ORIGINS } from "../canonical/parts.ts";
import { brokenAnswer } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { readCitations } from "./citations.ts";
import { isFailedFinish, readBlock, readFinish } from "./finish-reason.ts";
import { decodeFunctionName } from "./function-name.ts";
import { readLogprobs } from "./logprobs.ts";
import { createPartialArguments, type PartialArguments } from "./partial-arguments.ts";

/** Reads one candidate, whole or piece by piece. Pieces of text that follow each other are one part. */
export interface CandidateReader {
  step(candidate: Fields): AnswerEvent[];
  /** The prompt was blocked, so there is no candidate. */
  block(reason: string): void;
  /** All has come. The finish waits until here, because Gemini has repeated it in each chunk. */
  end(): AnswerEvent[];
  readonly isFinished: boolean;
}

interface OpenPart {
  readonly at: number;
  readonly kind: "text" | "reasoning" | "tool-call";
  isSigned: boolean;
  readonly args: PartialArguments | null;
}

const ORIGIN = REASONING_ORIGINS.gemini;

export function createCandidateReader(choice: number): CandidateReader {
  const texts: string[] = [];
  let out: AnswerEvent[] = [];
  let open: OpenPart | null = null;
  let nextAt = 0;
  let hasCalls = false;
  let sources: Fields = {};
  let finish: { readonly native: string; readonly message: string } | null = null;
  let blocked: Finish | null = null;

  const grow = (part: OpenPart, delta: PartDelta): void => {
    out.push({ kind: "part-delta", choice, at: part.at, delta });
  };

  const close = (): void => {
    if (open === null) return;
    if (open.args !== null) grow(open, { kind: "arguments", text: open.args.toJson() });
    out.push({ kind: "part-end", choice, at: open.at });
    open = null;
  };

  const start = (part: Part): number => {
    close();
    out.push({ kind: "part-start", choice, at: nextAt, part });
    return nextAt++;
  };

  const startRun = (kind: "text" | "reasoning"): OpenPart => {
    const part: Part =
      kind === "text"
        ? { kind, text: "" }
        : { kind, text: "", isSummary: true, signature: null, encrypted: null, id: null, origin: ORIGIN };
    return { at: start(part), kind, isSigned: false, args: null };
  };

  const readText = (text: string, kind: "text" | "reasoning", signature: string | null): void => {
    if (text === "" && signature === null) return;
    // A signature belongs to what came before it, and what is signed is whole.
    const run: OpenPart = open === null || open.kind !== kind || open.isSigned ? startRun(kind) : open;
    open = run;
    if (text !== "") grow(run, { kind: "text", text });
    if (kind === "text") texts.push(text);
    if (signature === null) return;
    run.isSigned = true;
    grow(run, kind === "text" ? proof(signature) : { kind: "signature", value: signature });
  };

  const startCall = (name: string, id: unknown, signature: string | null): OpenPart => {
    hasCalls = true;
    const signed = signature === null ? {} : { signature: { value: signature, origin: ORIGIN } };
    const at = start({
      kind: "tool-call",
      id: typeof id === "string" ? id : "",
      ...decodeFunctionName(name),
      tool: "function",
      arguments: "",
      ...signed,
    });
    return { at, kind: "tool-call", isSigned: signature !== null, args: createPartialArguments() };
  };

  /** A call comes whole, or begins with its name and goes on in parts without one. */
  const readCall = (call: Fields, signature: string | null): void => {
    const { name, id, args, partialArgs, willContinue } = call;
    const isNew = typeof name === "string" && name !== "";
    const running: OpenPart | null = isNew ? startCall(name, id, signature) : open;
    if (running === null || running.args === null) return;
    open = running;
    if (!isNew && signature !== null) grow(running, proof(signature));
    const whole = asFields(args);
    if (whole !== null) running.args.takeWhole(whole);
    for (const piece of Array.isArray(partialArgs) ? partialArgs : [])
      running.args.takePiece(asFields(piece) ?? {});
    if (willContinue !== true) close();
  };

  const readPart = (part: Fields): void => {
    const signature = typeof part["thoughtSignature"] === "string" ? part["thoughtSignature"] : null;
    const isThought = part["thought"] === true;
    const call = asFields(part["functionCall"]);
    if (call !== null) readCall(call, signature);
    else if (typeof part["text"] === "string") {
      readText(part["text"], isThought ? "reasoning" : "text", signature);
    } else if (!isThought) {
      // A thought that is no text is a sketch on the way to an image, and no answer.
      const whole = readMedia(part) ?? readNative(part);
      if (whole !== null) out.push({ kind: "part-end", choice, at: start(whole) });
    }
  };

  const addCitations = (): void => {
    const citations = readCitations(sources, texts.join(""));
    if (citations.length === 0) return;
    const run: OpenPart = open?.kind === "text" ? open : startRun("text");
    open = run;
    for (const citation of citations) grow(run, { kind: "citation", citation });
  };

  const endCandidate = (): void => {
    addCitations();
    close();
    if (blocked !== null) out.push({ kind: "finish", choice, finish: blocked });
    else if (finish === null) return;
    else if (isFailedFinish(finish.native)) {
      const why = finish.message === "" ? "" : `: ${finish.message}`;
      out.push({
        kind: "error",
        error: brokenAnswer(`the upstream ended the answer with ${finish.native}${why}`),
      });
    } else out.push({ kind: "finish", choice, finish: readFinish(finish.native, hasCalls) });
  };

  const takeOut = (): AnswerEvent[] => {
    const events = out;
    out = [];
    return events;
  };

  return {
    step(candidate) {
      const parts = asFields(candidate["content"])?.["parts"];
      for (const part of Array.isArray(parts) ? parts : []) readPart(asFields(part) ?? {});
      const logprobs = readLogprobs(candidate["logprobsResult"]);
      if (logprobs !== null) out.push({ kind: "logprobs", choice, value: logprobs });
      sources = { ...sources, ...pickSources(candidate) };
      const { finishReason, finishMessage } = candidate;
      if (typeof finishReason === "string") {
        finish = { native: finishReason, message: typeof finishMessage === "string" ? finishMessage : "" };
      }
      return takeOut();
    },
    block(reason) {
      blocked = readBlock(reason);
    },
    end() {
      endCandidate();
      return takeOut();
    },
    get isFinished() {
      return finish !== null || blocked !== null;
    },
  };
}

function proof(value: string): PartDelta {
  return { kind: "proof", value, origin: ORIGIN };
}

/** Of several in a stream the last one tells all. */
function pickSources({ groundingMetadata, citationMetadata }: Fields): Fields {
  return {
    ...(asFields(groundingMetadata) === null ? {} : { groundingMetadata }),
    ...(asFields(citationMetadata) === null ? {} : { citationMetadata }),
  };
}

function readMedia(part: Fields): MediaPart | null {
  const inline = asFields(part["inlineData"]);
  const mediaType = inline?.["mimeType"];
  const data = inline?.["data"];
  if (typeof mediaType !== "string" || typeof data !== "string") return null;
  const [family] = mediaType.split("/");
  const kind = family === "image" || family === "audio" || family === "video" ? family : "file";
  return { kind, source: { kind: "base64", mediaType, data } };
}

/** What only Gemini has: `executableCode`, `codeExecutionResult` and what comes after them. */
function readNative(part: Fields): Part | null {
  const type = Object.keys(part).find((key) => key !== "thought" && key !== "thoughtSignature");
  return type === undefined ? null : { kind: "native", format: "gemini", type, value: part };
}
