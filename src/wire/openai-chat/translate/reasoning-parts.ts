import type { Part, ReasoningPart, TextPart, ToolCallPart } from "../../canonical/parts.ts";
import { plainReasoning } from "../../canonical/parts.ts";
import { asFields, asText, type Fields } from "../../json/fields.ts";
import { joinReasoning } from "../reasoning.ts";
import { keepExtras, keptFields, keptSpelling } from "./extras.ts";
import { joinDetails } from "./join-details.ts";
import { decodeDetail, encodeDetails } from "./reasoning-details.ts";
import { encodeSignatureDetail, signsCall } from "./signatures.ts";
import { proveCall, spellProofDetail } from "./tool-call-parts.ts";

/** The reasoning of a message, and its calls with the thought signatures that came among the reasoning. */
export interface ReadReasoning {
  readonly parts: readonly ReasoningPart[];
  readonly calls: readonly Part[];
  /** Fields of the message that the parts now represent. */
  readonly fields: readonly string[];
}

const TEXT_FIELDS = ["reasoning_content", "reasoning"] as const;

/**
 * Decodes reasoning in all spellings. The details are the most complete; a reasoning text next to them repeats theirs, unless they
 * have none.
 */
export function readReasoning(message: Fields, calls: readonly Part[]): ReadReasoning {
  const raw = message["reasoning_details"];
  const isReadable = Array.isArray(raw) && raw.length > 0 && raw.every((detail) => asFields(detail) !== null);
  const text = asText(message["reasoning_content"]) || asText(message["reasoning"]) || "";
  if (text === "" && !isReadable) return { parts: [], calls, fields: [] };
  const { details, proven } = sortDetails(isReadable ? (raw as Fields[]) : [], calls);
  const used = isReadable ? ["reasoning_details"] : [];
  if (text === "" && details.length === 0) return { parts: [], calls: proven, fields: used };
  const said = Object.fromEntries(
    TEXT_FIELDS.filter((field) => field in message).map((field) => [field, message[field]]),
  );
  const hasText = details.some((detail) => detail.text !== "") || text === "";
  const parts = hasText ? details : [plainReasoning(text), ...details];
  const [first, ...others] = parts as [ReasoningPart, ...ReasoningPart[]];
  const spelled = { ...first, ...keepExtras(keptFields(first), { ...keptSpelling(first), said }) };
  return { parts: [spelled, ...others], calls: proven, fields: [...used, ...TEXT_FIELDS] };
}

/** Separates thought signatures of tool calls from details of the reasoning. */
function sortDetails(raw: readonly Fields[], calls: readonly Part[]) {
  const details: ReasoningPart[] = [];
  const proven = [...calls];
  const provable = indexProvable(calls);
  for (const { detail: fields, pieces, place } of joinDetails(raw)) {
    const detail = decodeDetail(fields, pieces);
    const at = takeProvable(detail, provable);
    if (at === null) details.push(detail);
    else proven[at] = proveCall(proven[at] as ToolCallPart, fields, detail.encrypted as string, place);
  }
  return { details, proven };
}

/** Indexes of the calls that a detail may sign, by the key of the signature; the first call is last in its list. */
type ProvableCalls = ReadonlyMap<string, number[]>;

/** Indexes calls by id; a call that already has its signature in another spelling, by that as well. */
function indexProvable(calls: readonly Part[]): ProvableCalls {
  const provable = new Map<string, number[]>();
  for (let at = calls.length - 1; at >= 0; at--) {
    const call = calls[at] as Part;
    if (call.kind !== "tool-call") continue;
    const name = nameProof(call.id, call.signature?.value ?? null);
    const known = provable.get(name);
    if (known === undefined) provable.set(name, [at]);
    else known.push(at);
  }
  return provable;
}

function nameProof(callId: string, value: string | null): string {
  return JSON.stringify([callId, value]);
}

/** Returns the index of the first call that the detail signs, and removes it from the index; null if there is none. */
function takeProvable(detail: ReasoningPart, provable: ProvableCalls): number | null {
  if (detail.id === null || !signsCall(detail, detail.id)) return null;
  const unsigned = provable.get(nameProof(detail.id, null)) ?? [];
  const signed = provable.get(nameProof(detail.id, detail.encrypted)) ?? [];
  const isUnsigned =
    (unsigned.at(-1) ?? Number.POSITIVE_INFINITY) < (signed.at(-1) ?? Number.POSITIVE_INFINITY);
  return (isUnsigned ? unsigned : signed).pop() ?? null;
}

/**
 * Encodes reasoning for a vendor, and the thought signature on the `signed` text, in the fields they came in. Reasoning from
 * another format goes into `reasoning_details` if it is signed or encrypted, else into `reasoning_content`, which more hosts know.
 */
export function encodeSentReasoning(
  parts: readonly ReasoningPart[],
  calls: readonly ToolCallPart[],
  signed: TextPart | undefined,
): Fields {
  const proven = new Set(parts.filter(hasProof).map((part) => part.id));
  const said: Record<string, unknown> = {};
  const details: Fields[] = [];
  const plain: ReasoningPart[] = [];
  for (const part of parts) {
    const spelling = keptSpelling(part);
    Object.assign(said, asFields(spelling["said"]));
    const belongs = hasProof(part) || (part.id !== null && proven.has(part.id));
    if (spelling["detail"] !== undefined || belongs) {
      for (const detail of encodeDetails(part, details.length)) details.push(detail);
    } else if (spelling["said"] === undefined) plain.push(part);
  }
  const text = joinReasoning(plain);
  const extraContent = signed === undefined ? undefined : keptSpelling(signed)["extraContent"];
  const proof =
    signed === undefined || extraContent !== undefined ? null : encodeSignatureDetail(signed, details.length);
  if (proof !== null) details.push(proof);
  const all = insertProofs(details, calls);
  return {
    ...(text === "" ? {} : { reasoning_content: text }),
    ...said,
    ...(all.length === 0 ? {} : { reasoning_details: all }),
    ...(extraContent === undefined ? {} : { extra_content: extraContent }),
  };
}

function hasProof({ signature, encrypted }: ReasoningPart): boolean {
  return signature !== null || encrypted !== null;
}

/** Larger than the index of any detail. */
const LAST = Number.MAX_SAFE_INTEGER;

/** Inserts the thought signatures of calls into the details, where they stood if they came in this format. */
export function insertProofs(details: readonly Fields[], calls: readonly ToolCallPart[]): Fields[] {
  const proofs = calls
    .map((call, place) => spellProofDetail(call, details.length + place))
    .filter((proof) => proof !== null)
    .toSorted((a, b) => (a.place ?? LAST) - (b.place ?? LAST));
  const all: Fields[] = [];
  let next = 0;
  for (const { detail, place } of proofs) {
    while (next < details.length && all.length < (place ?? LAST)) all.push(details[next++] as Fields);
    all.push(detail);
  }
  return all.concat(details.slice(next));
}
