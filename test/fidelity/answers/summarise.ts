import type { Fields } from "../../../src/base/json/fields.ts";
import type { Answer } from "../../../src/wire/canonical/model/answer.ts";
import type { Part } from "../../../src/wire/canonical/model/parts.ts";
import { unwrapReasoning } from "../../../src/wire/canonical/model/reasoning-envelope.ts";

/** Returns what a client acts on or sends back, independently of how the answer is divided into parts. */
export function summarise({ choices, usage, serviceTier }: Answer) {
  return {
    choices: choices.map(({ index, parts, finish, logprobs }) => ({
      index,
      text: join(parts, "text"),
      refusal: join(parts, "refusal"),
      reasoning: join(parts, "reasoning"),
      proofs: parts.flatMap(readProofs),
      calls: parts.flatMap(readCall),
      citations: parts.flatMap((part) =>
        part.kind === "text" ? (part.citations ?? []).map(({ url, text }) => ({ url, text })) : [],
      ),
      speech: parts.flatMap((part) => (isSpeech(part) ? [part.value] : [])).reduce(joinSpeech, {}),
      others: parts.flatMap((part) => (KNOWN.has(part.kind) || isSpeech(part) ? [] : [bare(part)])),
      reason: finish.reason,
      stopSequence: finish.stopSequence,
      logprobs,
    })),
    usage,
    serviceTier,
  };
}

const KNOWN: ReadonlySet<Part["kind"]> = new Set(["text", "refusal", "reasoning", "tool-call"]);

type Speech = Extract<Part, { kind: "native" }>;

/** Joins audio, which arrives in pieces of data and transcript. */
function isSpeech(part: Part): part is Speech {
  return part.kind === "native" && part.type === "audio";
}

function joinSpeech(before: Fields, piece: Fields): Fields {
  const joined: Record<string, unknown> = { ...before, ...piece };
  for (const key of ["data", "transcript"]) {
    const texts = [before[key], piece[key]].filter((text) => typeof text === "string");
    if (texts.length > 0) joined[key] = texts.join("");
  }
  return joined;
}

function join(parts: readonly Part[], kind: "text" | "refusal" | "reasoning"): string {
  return parts.map((part) => (part.kind === kind && "text" in part ? part.text : "")).join("");
}

/** Unwraps reasoning envelopes. The readers of vendors' streams do not, because vendors send none. */
function readProofs(part: Part): unknown[] {
  if (part.kind === "reasoning") {
    const carried = unwrapReasoning(part.signature ?? part.encrypted ?? "");
    const { signature, encrypted, origin } = carried ?? part;
    return signature === null && encrypted === null ? [] : [{ value: signature ?? encrypted, origin }];
  }
  return "signature" in part && part.signature !== undefined ? [part.signature] : [];
}

/** A tool call with parsed arguments. */
export interface SummedCall {
  readonly id: string;
  readonly name: string;
  readonly tool: "function" | "custom";
  readonly namespace: string | undefined;
  readonly arguments: unknown;
}

function readCall(part: Part): SummedCall[] {
  if (part.kind !== "tool-call") return [];
  const { id, name, tool, namespace } = part;
  return [{ id, name, tool, namespace, arguments: readArguments(part.arguments) }];
}

/** Normalizes whitespace in JSON. */
function readArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns a part without the fields that only one format keeps. */
/** Returns a part without its signature, which is listed separately. */
function bare(part: Part): unknown {
  const { extras: _, signature: __, ...rest } = { signature: undefined, ...part };
  return rest;
}
