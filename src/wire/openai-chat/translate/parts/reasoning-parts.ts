import { asFields, assignFields, asText, type Fields } from "../../../../base/json/fields.ts";
import type { Part, ReasoningPart, TextPart, ToolCallPart } from "../../../canonical/model/parts.ts";
import { plainReasoning } from "../../../canonical/model/parts.ts";
import { joinReasoning } from "../../reasoning.ts";
import { keepExtras, keptFields, keptSpelling } from "./extras.ts";
import { joinDetails } from "./join-details.ts";
import { decodeDetail, encodeDetails } from "./reasoning-details.ts";
import { encodeSignatureDetail, signsCall } from "./signatures.ts";
import { attachSignature, spellSignatureDetail } from "./tool-call-parts.ts";

/** The reasoning of a message, and its calls with the thought signatures that came among the reasoning. */
interface ReadReasoning {
  readonly parts: readonly ReasoningPart[];
  readonly calls: readonly Part[];
  /** Fields of the message that the parts now represent. */
  readonly fields: readonly string[];
}

const NO_PARTS: readonly ReasoningPart[] = [];
const NO_NAMES: readonly string[] = [];
const TEXT_FIELDS = ["reasoning_content", "reasoning"] as const;

/**
 * Decodes reasoning in all spellings. The details are the most complete spelling. A reasoning text next to details with text only repeats
 * it.
 */
export function readReasoning(message: Fields, calls: readonly Part[]): ReadReasoning {
  const raw = message["reasoning_details"];
  const isReadable = Array.isArray(raw) && raw.length > 0 && raw.every((detail) => asFields(detail) !== null);
  const text = asText(message["reasoning_content"]) || asText(message["reasoning"]) || "";
  if (text === "" && !isReadable) return { parts: NO_PARTS, calls, fields: NO_NAMES };
  const { details, signed } = sortDetails(isReadable ? (raw as Fields[]) : [], calls);
  const used = isReadable ? ["reasoning_details"] : [];
  if (text === "" && details.length === 0) return { parts: [], calls: signed, fields: used };
  const given = Object.fromEntries(
    TEXT_FIELDS.filter((field) => field in message).map((field) => [field, message[field]]),
  );
  const hasText = details.some((detail) => detail.text !== "") || text === "";
  const parts = hasText ? details : [plainReasoning(text), ...details];
  const [first, ...others] = parts as [ReasoningPart, ...ReasoningPart[]];
  const spelled = { ...first, ...keepExtras(keptFields(first), { ...keptSpelling(first), given }) };
  return { parts: [spelled, ...others], calls: signed, fields: [...used, ...TEXT_FIELDS] };
}

/** Separates thought signatures of tool calls from details of the reasoning. */
function sortDetails(raw: readonly Fields[], calls: readonly Part[]) {
  const details: ReasoningPart[] = [];
  const signed = [...calls];
  const signable = indexSignable(calls);
  for (const { detail: fields, pieces, index } of joinDetails(raw)) {
    const detail = decodeDetail(fields, pieces);
    const at = takeSignable(detail, signable);
    if (at === null) details.push(detail);
    else signed[at] = attachSignature(signed[at] as ToolCallPart, fields, index);
  }
  return { details, signed };
}

/** Indexes of the calls that a detail may sign, by the key of the signature; the first call is last in its list. */
type SignableCalls = ReadonlyMap<string, number[]>;

/** Indexes calls by id; a call that already has its signature in another spelling, by that as well. */
function indexSignable(calls: readonly Part[]): SignableCalls {
  const signable = new Map<string, number[]>();
  for (let at = calls.length - 1; at >= 0; at--) {
    const call = calls[at] as Part;
    if (call.kind !== "tool-call") continue;
    const name = keyOfSignature(call.id, call.signature?.value ?? null);
    const known = signable.get(name);
    if (known === undefined) signable.set(name, [at]);
    else known.push(at);
  }
  return signable;
}

function keyOfSignature(callId: string, value: string | null): string {
  return JSON.stringify([callId, value]);
}

/** Returns the index of the first call that the detail signs, and removes it from the index; null if there is none. */
function takeSignable(detail: ReasoningPart, signable: SignableCalls): number | null {
  if (detail.id === null || !signsCall(detail, detail.id)) return null;
  const unsigned = signable.get(keyOfSignature(detail.id, null)) ?? [];
  const signed = signable.get(keyOfSignature(detail.id, detail.encrypted)) ?? [];
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
  const protectedIds = new Set(parts.filter(isProtected).map((part) => part.id));
  const given: Record<string, unknown> = {};
  const details: Fields[] = [];
  const plain: ReasoningPart[] = [];
  for (const part of parts) {
    const spelling = keptSpelling(part);
    assignFields(given, asFields(spelling["given"]));
    const needsDetail = isProtected(part) || (part.id !== null && protectedIds.has(part.id));
    if (spelling["detail"] !== undefined || needsDetail) {
      for (const detail of encodeDetails(part, details.length)) details.push(detail);
    } else if (spelling["given"] === undefined) plain.push(part);
  }
  const text = joinReasoning(plain);
  const extraContent = signed === undefined ? undefined : keptSpelling(signed)["extraContent"];
  const detail =
    signed === undefined || extraContent !== undefined ? null : encodeSignatureDetail(signed, details.length);
  if (detail !== null) details.push(detail);
  const all = insertSignatures(details, calls);
  return {
    ...(text === "" ? {} : { reasoning_content: text }),
    ...given,
    ...(all.length === 0 ? {} : { reasoning_details: all }),
    ...(extraContent === undefined ? {} : { extra_content: extraContent }),
  };
}

/** Returns whether the vendor wants a part back unchanged. */
function isProtected({ signature, encrypted }: ReasoningPart): boolean {
  return signature !== null || encrypted !== null;
}

/** Larger than the index of any detail. */
const LAST = Number.MAX_SAFE_INTEGER;

/** Inserts the thought signatures of calls into the details, where they stood if they came in this format. */
export function insertSignatures(details: readonly Fields[], calls: readonly ToolCallPart[]): Fields[] {
  const signatures = calls
    .map((call, index) => spellSignatureDetail(call, details.length + index))
    .filter((signature) => signature !== null)
    .toSorted((a, b) => (a.index ?? LAST) - (b.index ?? LAST));
  const all: Fields[] = [];
  let next = 0;
  for (const { detail, index } of signatures) {
    while (next < details.length && all.length < (index ?? LAST)) all.push(details[next++] as Fields);
    all.push(detail);
  }
  return all.concat(details.slice(next));
}
