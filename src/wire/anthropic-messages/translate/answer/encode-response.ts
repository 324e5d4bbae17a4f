import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Answer } from "../../../canonical/model/answer.ts";
import type { AnswerFrame } from "../../../canonical/model/format.ts";
import { type Part, REASONING_ORIGINS, type Signature } from "../../../canonical/model/parts.ts";
import { encodeStopReason } from "../../finish-reason.ts";
import { encodeUsage } from "../../usage.ts";
import { encodeText, encodeToolUse } from "../parts/encode-part.ts";
import { FORMAT, isOwn, keptFields } from "../parts/extras.ts";
import { encodeMedia } from "../parts/media.ts";
import { encodeReasoning } from "../parts/reasoning-parts.ts";
import { encodeSignature, type SignatureTarget } from "../parts/signatures.ts";

/** Encodes a whole answer for a client of this API. The API has one choice, so it is the first. */
export function encodeAnswer(answer: Answer, { identity, end }: AnswerFrame): Fields {
  const choice = answer.choices[0];
  const content = choice?.parts.flatMap(encodeAnswerPart) ?? [];
  const hasCalls = content.some((block) => block["type"] === "tool_use");
  const { usage: rawUsage, ...rest } = keptFields(answer);
  return {
    id: identity.id,
    type: "message",
    role: "assistant",
    model: identity.model,
    ...rest,
    content,
    stop_reason: choice === undefined ? "end_turn" : encodeStopReason(choice.finish, isOwn(choice), hasCalls),
    stop_sequence: choice?.finish.stopSequence ?? null,
    ...(choice === undefined ? {} : keptFields(choice)),
    usage: encodeUsage(end.report, asFields(rawUsage) ?? {}, answer.serviceTier),
    ...(end.metadata === null ? {} : { gateway_metadata: end.metadata }),
  };
}

/** Encodes a part as blocks: none if the API has no such block, two if a signature is sent next to it. */
function encodeAnswerPart(part: Part): Fields[] {
  switch (part.kind) {
    case "text":
      if (part.text === "" && !isOwn(part) && part.signature === undefined) return [];
      return [...signatureBlock(part.signature, { kind: "text" }), encodeText(part, part.citations)];
    case "refusal":
      return [{ type: "text", text: part.text }];
    case "reasoning":
      return listBlock(encodeReasoning(part));
    case "tool-call":
      return [...signatureBlock(part.signature, { kind: "call", id: part.id }), encodeToolUse(part)];
    default:
      return encodeWholePart(part);
  }
}

/** Encodes a part that comes whole, after its signature; no block if the API has none for it. */
export function encodeWholePart(part: Part): Fields[] {
  if (part.kind === "native") return part.format === FORMAT ? [part.value] : [];
  const isShown = part.kind === "image" && (part.source.kind === "base64" || part.source.kind === "url");
  return isShown ? [...signatureBlock(part.signature, { kind: "image" }), encodeMedia(part, "content")] : [];
}

function listBlock(block: Fields | null): Fields[] {
  return block === null ? [] : [block];
}

/** Returns the block that carries a part's signature and is sent before it. Anthropic signs no such parts. */
export function signatureBlock(signature: Signature | undefined, target: SignatureTarget): Fields[] {
  if (signature === undefined || signature.origin === REASONING_ORIGINS.anthropic) return [];
  return [encodeSignature(target, signature)];
}
