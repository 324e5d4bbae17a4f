import type { Answer } from "../../../src/wire/canonical/answer.ts";
import type { Part } from "../../../src/wire/canonical/parts.ts";
import { unwrapReasoning } from "../../../src/wire/canonical/reasoning-envelope.ts";
import type { Fields } from "../../../src/wire/json/fields.ts";

/** What an answer says, however it was cut into parts: what a client would act on or send back. */
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

/** Speech comes in pieces, of data and of transcript. */
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

/** A vendor's stream has no envelopes, so its reader does not open those that we wrote. */
function readProofs(part: Part): unknown[] {
  if (part.kind === "reasoning") {
    const carried = unwrapReasoning(part.signature ?? part.encrypted ?? "");
    const { signature, encrypted, origin } = carried ?? part;
    return signature === null && encrypted === null ? [] : [{ value: signature ?? encrypted, origin }];
  }
  return "signature" in part && part.signature !== undefined ? [part.signature] : [];
}

/** A call, its arguments parsed. */
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

/** Spaces in JSON say nothing. */
function readArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Without what one format alone keeps. */
/** Without its proof, which is listed apart. */
function bare(part: Part): unknown {
  const { extras: _, signature: __, ...rest } = { signature: undefined, ...part };
  return rest;
}
