import type { Answer } from "../../canonical/answer.ts";
import type { AnswerEnd, AnswerIdentity } from "../../canonical/format.ts";
import { type Part, REASONING_ORIGINS, type Signature } from "../../canonical/parts.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { encodeStopReason } from "../finish-reason.ts";
import { encodeUsage } from "../usage.ts";
import { encodeText, encodeToolUse } from "./encode-block.ts";
import { FORMAT, isOwn, keptFields } from "./extras.ts";
import { encodeMedia } from "./media.ts";
import { encodeProof, encodeReasoning, type ProofTarget } from "./reasoning.ts";

/** A whole answer as a client of this API reads it. The API knows one choice, so it is the first. */
export function encodeAnswer(
  answer: Answer,
  identity: AnswerIdentity,
  end: AnswerEnd,
): Record<string, unknown> {
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

/** A part as the blocks that clients read: none for what the API has no block for, two where a proof travels beside it. */
function encodeAnswerPart(part: Part): Fields[] {
  switch (part.kind) {
    case "text":
      if (part.text === "" && !isOwn(part) && part.signature === undefined) return [];
      return [...proofOf(part.signature, { kind: "text" }), encodeText(part, part.citations)];
    case "refusal":
      return [{ type: "text", text: part.text }];
    case "reasoning":
      return listBlock(encodeReasoning(part));
    case "tool-call":
      return [...proofOf(part.signature, { kind: "call", id: part.id }), encodeToolUse(part)];
    default:
      return encodeWholePart(part);
  }
}

/** A part that comes whole, its proof before it; nothing where the API has no block for it. */
export function encodeWholePart(part: Part): Fields[] {
  if (part.kind === "native") return part.format === FORMAT ? [part.value] : [];
  const isShown = part.kind === "image" && (part.source.kind === "base64" || part.source.kind === "url");
  return isShown ? [...proofOf(part.signature, { kind: "image" }), encodeMedia(part, "content")] : [];
}

function listBlock(block: Fields | null): Fields[] {
  return block === null ? [] : [block];
}

/** The block before a part that carries its proof. Anthropic itself gives none. */
export function proofOf(signature: Signature | undefined, target: ProofTarget): Fields[] {
  if (signature === undefined || signature.origin === REASONING_ORIGINS.anthropic) return [];
  return [encodeProof(target, signature)];
}
