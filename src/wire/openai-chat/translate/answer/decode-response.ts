import { asFields, asObjects, asText, createTable, type Fields, omit } from "../../../../base/json/fields.ts";
import type { AnswerChoice, Finish, FinishReason } from "../../../canonical/model/answer.ts";
import type { AnswerDecoding } from "../../../canonical/model/format.ts";
import type { Citation, Part, Signature } from "../../../canonical/model/parts.ts";
import { failedFinish, NO_CHOICES } from "../../../conversation/errors/broken-answers.ts";
import { findVendorError } from "../../../conversation/errors/vendor-error.ts";
import {
  type ChatFinishReason,
  isFailedFinish,
  isFinishReason,
  lookUpFinishReason,
} from "../../finish-reason.ts";
import { OWN_ANSWER_FIELDS, OWN_CHOICE_FIELDS, OWN_MESSAGE_FIELDS } from "../../own-fields.ts";
import { listCalls } from "../../tool-calls.ts";
import { findUsage } from "../../usage.ts";
import { decodeCitation, decodeListed } from "../parts/citations.ts";
import { decodePart, keepNative } from "../parts/decode-part.ts";
import { keepExtras } from "../parts/extras.ts";
import { readReasoning } from "../parts/reasoning-parts.ts";
import { decodeExtraContent } from "../parts/signatures.ts";
import { decodeCall } from "../parts/tool-call-parts.ts";

/** Decodes a vendor's whole answer in any of the spellings of this format. */
export function decodeAnswer(body: Fields): AnswerDecoding {
  const error = findVendorError(body);
  if (error !== null) return { kind: "error", error };
  const raw = asObjects(body["choices"]);
  if (raw.length === 0) return { kind: "error", error: NO_CHOICES };
  const choices = citeListed(raw.map(decodeChoice), decodeListed(body));
  const bad = choices.find(({ finish }) => isFailedFinish(finish.native));
  if (bad !== undefined) return { kind: "error", error: failedFinish(bad.finish.native) };
  const serviceTier = asText(body["service_tier"]);
  const known = new Set([...OWN_ANSWER_FIELDS, ...(serviceTier === null ? [] : ["service_tier"])]);
  return {
    kind: "answer",
    answer: { choices, usage: findUsage(body), serviceTier, ...keepExtras(omit(body, known)) },
  };
}

function decodeChoice(choice: Fields, position: number): AnswerChoice {
  const { parts, rest } = decodeMessage(asFields(choice["message"]) ?? {});
  const logprobs = choice["logprobs"] ?? null;
  const known = new Set([...OWN_CHOICE_FIELDS, ...(logprobs === null ? [] : ["logprobs"])]);
  return {
    index: typeof choice["index"] === "number" ? choice["index"] : position,
    parts,
    finish: decodeFinish(asText(choice["finish_reason"]) ?? "stop", choice),
    logprobs,
    ...keepChoice(omit(choice, known), rest),
  };
}

/** Keeps the unknown fields of a choice and, under `message`, those of its message. */
export function keepChoice(choice: Fields, message: Fields) {
  return keepExtras({ ...choice, ...(Object.keys(message).length === 0 ? {} : { message }) });
}

function decodeMessage(message: Fields): { readonly parts: readonly Part[]; readonly rest: Fields } {
  const calls = asObjects(listCalls(message)).map(decodeCall);
  // A call without a name cannot be answered.
  const reasoning = readReasoning(
    message,
    calls.filter((call) => call !== null).filter(({ name }) => name.trim() !== ""),
  );
  const refusal = asText(message["refusal"]);
  const audio = asFields(message["audio"]);
  const { citations, others } = readAnnotations(message["annotations"]);
  const signed = decodeExtraContent(message["extra_content"]);
  const content = attachSignature(cite(readContent(message["content"]), citations), signed);
  const known = new Set([
    ...OWN_MESSAGE_FIELDS,
    ...(refusal === null ? [] : ["refusal"]),
    ...(audio === null ? [] : ["audio"]),
    ...(citations.length === 0 ? [] : ["annotations"]),
    ...(signed.signature === undefined ? [] : ["extra_content"]),
    "images",
  ]);
  return {
    parts: [
      ...reasoning.parts,
      ...content,
      ...asObjects(message["images"]).map(decodePart),
      ...(refusal ? [{ kind: "refusal", text: refusal } as const] : []),
      ...(audio === null ? [] : [keepNative(audio, "audio", { place: "audio" })]),
      ...reasoning.calls,
    ],
    rest: { ...omit(message, known), ...(others.length === 0 ? {} : { annotations: others }) },
  };
}

/** Decodes text or content parts; Mistral's parts hold reasoning as well. */
function readContent(content: unknown): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  return asObjects(content).map(decodePart);
}

function readAnnotations(raw: unknown): { readonly citations: Citation[]; readonly others: unknown[] } {
  if (!Array.isArray(raw)) return { citations: [], others: [] };
  const read = raw.map((annotation) => ({ annotation, citation: decodeCitation(annotation) }));
  const citations = read.flatMap(({ citation }) => citation ?? []);
  if (citations.length === 0) return { citations, others: [] };
  return { citations, others: read.flatMap((entry) => (entry.citation === null ? [entry.annotation] : [])) };
}

/** Puts all citations on the first text; their positions refer to the whole text. */
function cite(parts: Part[], citations: readonly Citation[]): Part[] {
  if (citations.length === 0) return parts;
  const at = parts.findIndex((part) => part.kind === "text");
  if (at < 0) return [...parts, { kind: "text", text: "", citations }];
  return parts.map((part, index) => (index === at && part.kind === "text" ? { ...part, citations } : part));
}

/** Adds the pages that the answer lists to the text of its first choice as citations, unless the text already has citations. */
function citeListed(choices: AnswerChoice[], listed: readonly Citation[]): AnswerChoice[] {
  const [first, ...others] = choices;
  if (first === undefined || listed.length === 0 || first.parts.some(isCiting)) return choices;
  return [{ ...first, parts: cite([...first.parts], listed) }, ...others];
}

function isCiting(part: Part): boolean {
  return part.kind === "text" && part.citations !== undefined;
}

/** Puts the thought signature of a message on its last text, or on an empty text if there is none. */
function attachSignature(
  parts: readonly Part[],
  signed: { readonly signature?: Signature },
): readonly Part[] {
  if (signed.signature === undefined) return parts;
  const at = parts.findLastIndex((part) => part.kind === "text");
  if (at < 0) return [{ kind: "text", text: "", ...signed }, ...parts];
  return parts.map((part, index) => (index === at ? ({ ...part, ...signed } as Part) : part));
}

const REASONS: Readonly<Record<ChatFinishReason, FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter",
};
const SPECIAL: Readonly<Record<string, FinishReason>> = createTable({
  stop_sequence: "stop-sequence",
  refusal: "refusal",
});

/** The fields of a choice in which vLLM and SGLang give the stop sequence that was hit, or the id of a token. */
const STOP_FIELDS = ["stop_reason", "matched_stop"] as const;

/** Decodes a vendor's finish reason, and the stop sequence that is named in the choice. */
export function decodeFinish(native: string, choice: Fields): Finish {
  const reason = SPECIAL[native.toLowerCase()] ?? REASONS[lookUpFinishReason(native)];
  const stopSequence = reason === "stop" || reason === "stop-sequence" ? findStopSequence(choice) : null;
  return stopSequence === null
    ? { reason, native, stopSequence }
    : { reason: "stop-sequence", native, stopSequence };
}

function findStopSequence(choice: Fields): string | null {
  for (const field of STOP_FIELDS) {
    const value = choice[field];
    // Some hosts repeat a finish reason there.
    if (typeof value === "string" && value !== "" && !isFinishReason(value)) return value;
  }
  return null;
}
