import { z } from "zod";
import { toDollars } from "../../../base/numbers/money.ts";
import { formatTime } from "../../../base/time/time.ts";
import type { Names } from "../../../core/accounts/stores/find-names.ts";
import type { ObjectHead } from "../../../core/response-objects/records/response-object.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";

/** The states of a response. */
export const StatusView = z.enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]);

/** What is common to an object in a list, on its own and in a chain. */
const PLACE = {
  id: z
    .string()
    .describe("Id of the response, which is that of its generation (`gen_…`), or of items (`items_…`)."),
  kind: z.enum(["response", "items"]).describe("`items` were added to a conversation without a response."),
  status: StatusView,
  model: z.string().nullable().describe("Id of the model that was requested. `null` for items."),
  background: z.boolean(),
  sequence: z.int().describe("Distance from the first object of the chain. `0` for the first."),
  previous_id: z
    .string()
    .nullable()
    .describe("Id of the object that this one continues. `null` for the first."),
  bytes: z.int().describe("Size of its own items, in bytes."),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable().describe("`null` while it runs."),
};

/** An object as lists show it. */
export const KeptResponseView = z
  .object({
    ...PLACE,
    root_id: z.string().describe("Id of the first object of the chain, or of its conversation."),
    conversation_id: z.string().nullable(),
    account_id: z.string(),
    account_name: z.string().nullable(),
    user_id: z.string().nullable().describe("Id of the key's user. `null` for a service key."),
    user_name: z.string().nullable(),
    key_id: z.string(),
    key_name: z.string().nullable(),
    is_cancel_requested: z.boolean().describe("Whether it was asked to end."),
    expires_at: z.iso
      .datetime()
      .describe("Time at which the whole chain is deleted, unless it is used before (RFC 3339)."),
  })
  .meta({
    id: "KeptResponse",
    description: "A response, or items of a conversation, that the gateway keeps. Without contents.",
  });

const ChainEntryView = z
  .object(PLACE)
  .meta({ id: "ChainEntry", description: "An object of a chain. Without contents." });

/** An object with its cost and its chain. */
export const KeptResponseDetails = KeptResponseView.extend({
  team_id: z.string().nullable().describe("Id of the key's team. `null` for a key without a team."),
  team_name: z.string().nullable(),
  chain_bytes: z.int().describe("Size of the chain up to and including this object, in bytes."),
  may_change: z.boolean().describe("Whether the caller may cancel and delete it."),
  generation: z
    .object({
      outcome: z.string(),
      provider_name: z.string().nullable(),
      tokens_prompt: z.int(),
      tokens_completion: z.int(),
      tokens_cached: z.int(),
      tokens_reasoning: z.int(),
      total_cost: z.number().describe("US dollars charged to the account so far."),
      total_cost_nanodollars: z.int(),
    })
    .nullable()
    .describe("What it used and cost. `null` for items, and if the record of the generation is gone."),
  conversation: z
    .object({
      id: z.string(),
      metadata: z
        .record(z.string(), z.string())
        .nullable()
        .describe("`null` if the conversation was deleted. Its responses stay."),
    })
    .nullable()
    .describe("Its conversation. `null` if the chain is none."),
  chain: z
    .array(ChainEntryView)
    .describe(
      "The objects of the chain that the caller may read, the first one first, at most 200. A chain may branch: see `previous_id`.",
    ),
  is_truncated: z.boolean().describe("Whether the chain has more than these objects."),
}).meta({
  id: "KeptResponseDetails",
  description: "A kept response with its cost and its chain. Without contents.",
});

/** Presents an object as lists show it. */
export function presentHead(head: ObjectHead, names: Names): z.infer<typeof KeptResponseView> {
  const { rootId, conversationId, accountId, userId, keyId, isCancelRequested, expiresAt } = head;
  return {
    ...presentEntry(head),
    root_id: rootId,
    conversation_id: conversationId,
    account_id: accountId,
    account_name: names.account(accountId),
    user_id: userId,
    user_name: names.account(userId),
    key_id: keyId,
    key_name: names.key(keyId),
    is_cancel_requested: isCancelRequested,
    expires_at: new Date(expiresAt).toISOString(),
  };
}

/** Presents an object as a chain shows it. */
export function presentEntry(head: ObjectHead): z.infer<typeof ChainEntryView> {
  const { id, kind, status, model, isBackground, sequence, previousId, bytes, createdAt, endedAt } = head;
  return {
    ...{ id, kind, status, model, background: isBackground, sequence, previous_id: previousId, bytes },
    created_at: new Date(createdAt).toISOString(),
    ended_at: formatTime(endedAt),
  };
}

/** Presents what a generation used and cost; null without its record. */
export function presentGenerationOf(
  record: UsageRecord | null,
): z.infer<typeof KeptResponseDetails>["generation"] {
  if (record === null) return null;
  return {
    outcome: record.outcome,
    provider_name: record.provider,
    tokens_prompt: record.promptTokens,
    tokens_completion: record.completionTokens,
    tokens_cached: record.cachedTokens,
    tokens_reasoning: record.reasoningTokens,
    total_cost: toDollars(record.costNanodollars),
    total_cost_nanodollars: record.costNanodollars,
  };
}
