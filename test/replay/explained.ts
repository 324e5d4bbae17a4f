import type { Difference } from "./facts.ts";
import type { Outcome } from "./replay.ts";

/** One difference, or a rejection, with everything known about it. */
export interface Loss extends Omit<Outcome, "differences"> {
  readonly kind: Difference["kind"] | "refusal";
  readonly change: "lost" | "added" | "refused";
  readonly value: string;
}

/** Why something may be missing: a rule of the API reference, or a fact about the recording. */
export interface Explanation {
  readonly reason: string;
  readonly covers: (loss: Loss) => boolean;
}

const REASONING: readonly Loss["kind"][] = ["reasoning", "signature"];
const isTurn = ({ check }: Loss): boolean => check === "next turn" || check === "bare next turn";

/** What a warning must mention to name a difference of that kind. */
const NAMED: Readonly<Partial<Record<Loss["kind"], RegExp>>> = {
  system: /system message|told to answer in JSON/,
  user: /system message|does not begin with the user/,
  reasoning: /[Rr]easoning.* left out/,
  signature: /[Rr]easoning.* left out/,
  media: /(image|file|audio|video).* left out/,
  hosted: / left out/,
};

/** Rejections that name the field, because leaving it out would change the request's meaning. */
const REFUSED = [
  /Previous response with id '\S+' not found/,
  /contains a compaction that only the vendor which made it can read/,
  /\bn must be 1 for this model/,
  /is a URL, which this model's provider does not fetch/,
  /is a file uploaded elsewhere|was uploaded to another vendor/,
  /which this model('s provider)? does not (read|take)/,
  /that this model does not take in this form/,
  /Gemini cannot read this/,
  /cannot be sent to this model, which takes (images|files)/,
  /is not here; send the image itself/,
];

/**
 * Hosted calls that clients answer, and Anthropic's tool searches, whose results every format can express: by the names
 * that they have as plain calls.
 */
const HOSTED_CALL = /^(shell|local_shell|apply_patch|tool_search|tool_search_tool_(regex|bm25)|computer)\(/;

/** All explanations; a difference that none of them covers is a loss. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    reason: "a warning names it",
    covers: ({ kind, warnings }) => warnings.some((warning) => NAMED[kind]?.test(warning)),
  },
  {
    reason: "rejected with a 400 that names the field",
    covers: ({ kind, value }) =>
      kind === "refusal" && value.startsWith("400 ") && REFUSED.some((words) => words.test(value)),
  },
  {
    reason: "a compaction of Anthropic's is a text for other vendors",
    covers: ({ kind, check, recording }) =>
      kind === "text" &&
      check === "next turn elsewhere" &&
      recording.name.startsWith("anthropic/anthropic-compaction"),
  },
  {
    reason: "reasoning of another vendor is left out",
    covers: ({ kind, check, recording, target }) =>
      REASONING.includes(kind) &&
      (check === "request" || check === "next turn elsewhere") &&
      recording.format !== target.format,
  },
  {
    reason: "Gemini accepts only reasoning that it signed",
    covers: ({ kind, target, ...loss }) =>
      kind === "reasoning" && target.format === "gemini" && isTurn({ kind, target, ...loss }),
  },
  {
    reason: "a Responses vendor accepts from other APIs only reasoning that it encrypted",
    covers: ({ kind, client, target, ...loss }) =>
      kind === "reasoning" &&
      target.format === "openai-responses" &&
      client !== "responses" &&
      isTurn({ kind, client, target, ...loss }),
  },
  {
    reason: "a client that keeps only the specification's fields has dropped it from a turn without calls",
    covers: ({ kind, check }) => (REASONING.includes(kind) || kind === "media") && check === "bare next turn",
  },
  {
    reason: "no other client API can express what a hosted tool of a vendor did",
    covers: ({ kind, check, client, target }) =>
      kind === "hosted" && check !== "next turn elsewhere" && CLIENT_FORMATS[client] !== target.format,
  },
  {
    reason: "a call of a kind that only one format has is a plain call of that name in another",
    covers: ({ kind, change, check, recording, target, value }) => {
      if (check !== "next turn elsewhere" || recording.format === target.format) return false;
      const isHosted = kind === "hosted" && change === "lost";
      return (
        isHosted || ((kind === "call" || kind === "result") && change === "added" && HOSTED_CALL.test(value))
      );
    },
  },
  {
    reason: "a signature without a field in the client's format comes back from the gateway's memory",
    covers: ({ kind, change, check }) => kind === "signature" && change === "lost" && check === "answer",
  },
  {
    reason: "an answer with calls has the finish reason for calls",
    covers: ({ kind, change, value }) =>
      kind === "finish" && value === (change === "lost" ? "stop" : "tools"),
  },
  {
    reason: "a text file is sent as its text",
    covers: ({ kind, check, target }) =>
      (check === "request" || check === "next turn elsewhere") &&
      target.format === "cohere-chat" &&
      (kind === "media" || kind === "user"),
  },
  {
    reason: "Bedrock requires a declaration of every tool that the history calls",
    covers: ({ kind, change, target }) =>
      kind === "tool" && change === "added" && target.format === "bedrock-converse",
  },
  {
    reason: "events were removed from the recording",
    covers: ({ recording, kind }) =>
      kind === "text" && recording.name.includes("openai-shell-container.1.chunks"),
  },
];

const CLIENT_FORMATS = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic-messages",
} as const;

/** The losses of an outcome: one for each difference, or one for a rejection. */
export function listLosses({ differences, ...outcome }: Outcome): Loss[] {
  if (outcome.refusal !== null)
    return [{ ...outcome, kind: "refusal", change: "refused", value: outcome.refusal }];
  return differences.map((difference) => ({ ...outcome, ...difference }));
}

/** The reason of an explained difference; `null` for a loss. */
export function explain(loss: Loss): Explanation | null {
  return EXPLANATIONS.find(({ covers }) => covers(loss)) ?? null;
}
