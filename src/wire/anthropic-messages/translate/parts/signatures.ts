import type { Fields } from "../../../../base/json/fields.ts";
import type { Part, ReasoningPart, Signature } from "../../../canonical/model/parts.ts";
import { wrapReasoning } from "../../../canonical/model/reasoning-envelope.ts";

/**
 * Encodes the signature of a text, image or tool call, which has no field for it here, as a `redacted_thinking` block next to it.
 * The id in the envelope names the part: the id of a call, the next text or image, or the text before.
 */
export function encodeSignature(target: SignatureTarget, signature: Signature): Fields {
  const id = target.kind === "call" ? `${CALL}${target.id}` : NEIGHBOURS[target.kind];
  const { value, origin } = signature;
  return {
    type: "redacted_thinking",
    data: wrapReasoning({ signature: value, encrypted: null, id, origin, isSummary: false }),
  };
}

export type SignatureTarget =
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "text" | "text-before" | "image" };

const CALL = "proof:call:";
/** The ids of signatures that are next to their part: they precede it, or (`text-before`) follow it. */
const NEIGHBOURS = {
  text: "proof:next-text",
  "text-before": "proof:text-before",
  image: "proof:next-image",
} as const;

/** Attaches the signatures that came next to a message's parts to those parts. A signature without its part is dropped. */
export function attachSignatures(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isCarrier)) return parts;
  const attached: (Part | null)[] = [...parts];
  const calls = indexCalls(parts);
  const texts = indexTextsBefore(parts);
  const signed = new Set<number>();
  /** Part indexes by the id of a signature that precedes its part. */
  const next = new Map<string, number>();
  // Goes backwards, so that the text or image after a signature is the last one seen. The last of several signatures of a part
  // counts.
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at] as Part;
    if (part.kind === "text" || part.kind === "image") next.set(NEIGHBOURS[part.kind], at);
    if (!isCarrier(part)) continue;
    attached[at] = null;
    const before = part.id === NEIGHBOURS["text-before"] ? texts[at] : undefined;
    const target = before ?? next.get(part.id) ?? calls.get(part.id) ?? -1;
    const found = signed.has(target) ? undefined : attached[target];
    signed.add(target);
    if (found?.kind === "text" || found?.kind === "tool-call" || found?.kind === "image") {
      attached[target] = { ...found, signature: { value: part.signature, origin: part.origin } };
    }
  }
  return attached.filter((part) => part !== null);
}

type SignatureCarrier = ReasoningPart & {
  readonly id: string;
  readonly signature: string;
  readonly origin: string;
};

function isCarrier(part: Part): part is SignatureCarrier {
  return (
    part.kind === "reasoning" &&
    part.signature !== null &&
    part.origin !== null &&
    part.id?.startsWith("proof:") === true
  );
}

/** Returns the index of the last text before each part; -1 if there is none. */
function indexTextsBefore(parts: readonly Part[]): readonly number[] {
  let last = -1;
  return parts.map((part, at) => {
    const before = last;
    if (part.kind === "text") last = at;
    return before;
  });
}

/** Indexes the first call of each id by the id of its signature. */
function indexCalls(parts: readonly Part[]): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const [at, part] of parts.entries()) {
    if (part.kind === "tool-call" && !calls.has(CALL + part.id)) calls.set(CALL + part.id, at);
  }
  return calls;
}
