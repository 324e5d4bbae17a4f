import {
  asFields,
  assignFields,
  type Fields,
  type MutableFields,
  omit,
} from "../../../../base/json/fields.ts";
import type { Answer, AnswerChoice, Finish } from "../../../canonical/model/answer.ts";
import { FINISH_WORDS } from "../../../canonical/model/finish-words.ts";
import type { AnswerFrame, AskedFor } from "../../../canonical/model/format.ts";
import type {
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from "../../../canonical/model/parts.ts";
import { nameOpenaiTier } from "../../../canonical/model/service-tiers.ts";
import { encodeReasoning, joinReasoning } from "../../reasoning.ts";
import { encodeUsage } from "../../usage.ts";
import { encodeCitation } from "../parts/citations.ts";
import { keptFields } from "../parts/extras.ts";
import { encodeMadeImage } from "../parts/made-images.ts";
import { encodeDetails } from "../parts/reasoning-details.ts";
import { insertSignatures } from "../parts/reasoning-parts.ts";
import { encodeSignatureDetail, spreadExtraContent } from "../parts/signatures.ts";
import { encodeCall } from "../parts/tool-call-parts.ts";

/** Encodes a whole answer (docs/api/chat.md). */
export function encodeAnswer(answer: Answer, { identity, end, asked }: AnswerFrame): Fields {
  const { id, model, created } = identity;
  const { report, metadata } = end;
  const { serviceTier } = answer;
  // Clients generated from OpenRouter's description require `system_fingerprint`.
  const encoded: MutableFields = { id, object: "chat.completion", created, model, system_fingerprint: null };
  assignFields(encoded, keptFields(answer));
  const tier = serviceTier === null ? undefined : nameOpenaiTier(serviceTier);
  if (tier !== undefined) encoded["service_tier"] = tier;
  encoded["choices"] = answer.choices.map((choice) => encodeChoice(choice, asked));
  encoded["usage"] = encodeUsage(report);
  if (metadata !== null) encoded["gateway_metadata"] = metadata;
  return encoded;
}

/** Returns whether the client asked for an answer without reasoning. */
export function hidesReasoning({ request }: AskedFor): boolean {
  return request.reasoning?.hidden === true;
}

function encodeChoice(choice: AnswerChoice, asked: AskedFor): Fields {
  const { index, parts, finish, logprobs } = choice;
  const kept = keptFields(choice);
  const usesFunctions = asked.usesFunctions === true;
  const shown = hidesReasoning(asked) ? parts.filter((part) => part.kind !== "reasoning") : parts;
  const message = assignFields(
    { role: "assistant" },
    asFields(kept["message"]),
    encodeMessage(shown, usesFunctions),
  );
  const encoded: MutableFields = assignFields({ index, message }, omit(kept, MESSAGE));
  if (logprobs !== null) encoded["logprobs"] = logprobs;
  return assignFields(encoded, encodeFinish(finish, usesFunctions));
}

const MESSAGE: ReadonlySet<string> = new Set(["message"]);

/** Encodes a finish, with the vendor's own word where it differs. */
export function encodeFinish({ reason, native }: Finish, usesFunctions: boolean): Fields {
  const word = usesFunctions && reason === "tool-calls" ? "function_call" : FINISH_WORDS[reason];
  return { finish_reason: word, ...(word === native ? {} : { native_finish_reason: native }) };
}

function encodeMessage(parts: readonly Part[], usesFunctions: boolean): Fields {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && isPlainText(only)) return { content: only.text };
  const text = joinTexts(parts, "text");
  const refusal = joinTexts(parts, "refusal");
  const calls = parts.filter((part) => part.kind === "tool-call");
  const cited = parts.flatMap((part) => (part.kind === "text" ? (part.citations ?? []) : []));
  const annotations = cited.flatMap((citation) => encodeCitation(citation) ?? []);
  const images = parts.filter((part): part is MediaPart => part.kind === "image");
  const signed =
    parts.findLast((part): part is TextPart => part.kind === "text" && part.signature !== undefined) ?? null;
  const audio = joinAudio(parts);
  const hasText = text !== "" || (calls.length === 0 && refusal === "" && audio === null);
  return {
    content: hasText ? text : null,
    ...encodeMessageReasoning(
      parts.filter((part) => part.kind === "reasoning"),
      calls,
      signed,
    ),
    ...(signed === null ? {} : spreadExtraContent(signed)),
    ...(refusal === "" ? {} : { refusal }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images: images.map((image) => encodeMadeImage(image, "", () => {})) }),
    ...(audio === null ? {} : { audio }),
    ...encodeCalls(calls, usesFunctions),
  };
}

/** Whether a part is a text and nothing else, as most answers are. */
function isPlainText(part: Part): part is TextPart {
  return part.kind === "text" && part.citations === undefined && part.signature === undefined;
}

/**
 * Encodes the calls. A client that only knows `function_call` gets the first one: the model may repeat the others after it got that
 * result.
 */
function encodeCalls(calls: readonly ToolCallPart[], usesFunctions: boolean): Fields {
  const [first] = calls;
  if (first === undefined) return {};
  if (usesFunctions) return { function_call: { name: first.name, arguments: first.arguments || "{}" } };
  return { tool_calls: calls.map((call, index) => ({ ...encodeCall(call), index })) };
}

function joinTexts(parts: readonly Part[], kind: "text" | "refusal"): string {
  return parts.map((part) => (part.kind === kind ? part.text : "")).join("");
}

/** Encodes the reasoning as one text and its details, with the thought signatures of calls and text among them. */
function encodeMessageReasoning(
  reasoning: readonly ReasoningPart[],
  calls: readonly ToolCallPart[],
  signed: TextPart | null,
): Fields {
  const details: Fields[] = [];
  for (const part of reasoning) details.push(...encodeDetails(part, details.length));
  const signature = signed === null ? null : encodeSignatureDetail(signed, details.length);
  if (signature !== null) details.push(signature);
  const all = insertSignatures(details, calls);
  const text = joinReasoning(reasoning);
  return encodeReasoning({
    content: null,
    reasoning: text === "" ? null : text,
    details: all.length === 0 ? null : all,
  });
}

/** Joins the pieces of a spoken answer, each of which is a native part. */
function joinAudio(parts: readonly Part[]): Fields | null {
  const pieces = parts.map(readAudio).filter((piece) => piece !== null);
  if (pieces.length === 0) return null;
  return {
    ...assignFields({}, ...pieces),
    ...joinField(pieces, "data"),
    ...joinField(pieces, "transcript"),
  };
}

/** Returns a piece of a spoken answer; null for any other part. */
export function readAudio(part: Part): Fields | null {
  const isAudio = part.kind === "native" && part.format === "openai-chat" && part.type === "audio";
  return isAudio ? part.value : null;
}

function joinField(pieces: readonly Fields[], field: string): Fields {
  const texts = pieces.map((piece) => piece[field]).filter((text) => typeof text === "string");
  return texts.length === 0 ? {} : { [field]: texts.join("") };
}
