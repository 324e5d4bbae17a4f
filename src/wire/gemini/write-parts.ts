import type { AnswerEvent, PartDelta } from "../canonical/answer.ts";
import { type Citation, type Part, REASONING_ORIGINS, type Signature } from "../canonical/parts.ts";
import type { Fields } from "../json/fields.ts";
import { decodeFunctionName } from "./function-name.ts";
import { createPartialArguments, type PartialArguments } from "./partial-arguments.ts";

/** Turns Gemini's parts of one candidate into events. Pieces of text that follow each other are one part. */
export interface PartWriter {
  addText(text: string, kind: "text" | "reasoning", signature: string | null): void;
  addCall(call: Fields, signature: string | null): void;
  /** A part that comes whole. */
  addWhole(part: Part): void;
  /** To the text that stands open, or to an empty one. */
  addCitations(citations: readonly Citation[]): void;
  close(): void;
  /** The events since the last time. */
  takeEvents(): AnswerEvent[];
  readonly hasCalls: boolean;
}

interface OpenPart {
  readonly at: number;
  readonly kind: "text" | "reasoning" | "tool-call";
  isSigned: boolean;
  readonly args: PartialArguments | null;
}

const ORIGIN = REASONING_ORIGINS.gemini;

export function createPartWriter(choice: number): PartWriter {
  let out: AnswerEvent[] = [];
  let open: OpenPart | null = null;
  let nextAt = 0;
  let hasCalls = false;

  const grow = ({ at }: OpenPart, delta: PartDelta): void => {
    out.push({ kind: "part-delta", choice, at, delta });
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

  /** What is signed is whole: nothing goes on behind a signature. `signature` is that of a text which begins with it. */
  const runOf = (kind: "text" | "reasoning", signature: string | null): OpenPart => {
    if (open === null || open.kind !== kind || open.isSigned) {
      const isSigned = kind === "text" && signature !== null;
      open = { at: start(emptyRun(kind, signature)), kind, isSigned, args: null };
    }
    return open;
  };

  /** A call comes whole, or begins with its name and goes on in parts without one. */
  const callOf = (call: Fields, signature: string | null): OpenPart | null => {
    if (typeof call["name"] !== "string" || call["name"] === "") return open;
    hasCalls = true;
    const at = start(emptyCall(call["name"], call["id"], signature));
    open = { at, kind: "tool-call", isSigned: signature !== null, args: createPartialArguments() };
    return open;
  };

  return {
    addText(text, kind, signature) {
      if (text === "" && signature === null) return;
      const run = runOf(kind, signature);
      if (text !== "") grow(run, { kind: "text", text });
      if (signature === null || run.isSigned) return;
      run.isSigned = true;
      grow(run, kind === "text" ? proof(signature) : { kind: "signature", value: signature });
    },
    addCall(call, signature) {
      const running = callOf(call, signature);
      if (running === null || running.args === null) return;
      if (signature !== null && !running.isSigned) grow(running, proof(signature));
      running.args.addCall(call);
      if (call["willContinue"] !== true) close();
    },
    addWhole(part) {
      out.push({ kind: "part-end", choice, at: start(part) });
    },
    addCitations(citations) {
      if (citations.length === 0) return;
      const run = open?.kind === "text" ? open : runOf("text", null);
      for (const citation of citations) grow(run, { kind: "citation", citation });
    },
    close,
    takeEvents() {
      const events = out;
      out = [];
      return events;
    },
    get hasCalls() {
      return hasCalls;
    },
  };
}

/** A text says its signature where it has one by then: some formats have a place for it only ahead of the text. */
function emptyRun(kind: "text" | "reasoning", signature: string | null): Part {
  if (kind === "text") return { kind, text: "", ...sign(signature) };
  return { kind, text: "", isSummary: true, signature: null, encrypted: null, id: null, origin: ORIGIN };
}

function emptyCall(name: string, id: unknown, signature: string | null): Part {
  return {
    kind: "tool-call",
    // Gemini 2 gives none; whoever holds the generation makes one up.
    id: typeof id === "string" ? id : "",
    ...decodeFunctionName(name),
    tool: "function",
    arguments: "",
    ...sign(signature),
  };
}

function sign(signature: string | null): { readonly signature?: Signature } {
  return signature === null ? {} : { signature: { value: signature, origin: ORIGIN } };
}

function proof(value: string): PartDelta {
  return { kind: "proof", value, origin: ORIGIN };
}
