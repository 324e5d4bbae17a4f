import { z } from "zod";
import type { ErrorCode } from "../../base/failures/errors.ts";
import { ResponsesErrorBody } from "./errors.ts";
import { ResponsesResponse } from "./inference-schemas.ts";
import { namedBody } from "./named-body.ts";
import { type Operation, ok } from "./operation.ts";
import { GATEWAY_BASE } from "./shared-parts.ts";

const ERRORS: readonly ErrorCode[] = [
  "invalid_request",
  "authentication",
  "permission_denied",
  "not_found",
  "internal",
  "unavailable",
];

/** The parts that operations on kept responses and conversations share. */
const COMMON = {
  tag: "Responses and conversations",
  callers: { kind: "inference" },
  params: null,
  query: null,
  headers: [],
  body: null,
  responseHeaders: [],
  errors: ERRORS,
  errorSchema: ResponsesErrorBody,
  takesIdempotencyKey: false,
} as const;

const ofResponse = z.object({
  id: z.string().meta({ description: "Id of a response, `gen_…`.", examples: ["$RESPONSE_ID"] }),
});
const ofConversation = z.object({
  id: z.string().meta({ description: "Id of a conversation, `conv_…`.", examples: ["$CONVERSATION_ID"] }),
});
const ofItem = ofConversation.extend({
  item: z.string().meta({ description: "Id of an item.", examples: ["$ITEM_ID"] }),
});

const PAGE = z.object({
  limit: z.int().min(1).max(100).optional().describe("Number of items. Default: 20."),
  order: z.enum(["asc", "desc"]).optional().describe("`desc`, the default: the newest first."),
  after: z.string().optional().describe("Id of the last item of the page before."),
});

const item = z.looseObject({ id: z.string(), type: z.string().optional() });

const ItemList = namedBody("ItemList", {
  object: z.literal("list"),
  data: z.array(item).describe("Messages, reasoning, tool calls and tool results."),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean().describe("Whether there is another page."),
});

const metadata = z
  .record(z.string(), z.string())
  .describe("Up to 16 pairs of your own. Keys have up to 64 characters, values up to 512.");

const Conversation = namedBody("Conversation", {
  id: z.string().describe("Id of the conversation, `conv_…`."),
  object: z.literal("conversation"),
  created_at: z.number().describe("Creation time in Unix seconds."),
  metadata,
});

const items = z
  .array(z.looseObject({ type: z.string().optional() }))
  .max(20)
  .meta({ description: "Items to add.", examples: [[{ role: "user", content: "Hello!" }]] });

const deleted = (object: "response" | "conversation.deleted") =>
  z.object({ id: z.string(), object: z.literal(object), deleted: z.literal(true) });

/** The operations on responses and conversations that the gateway keeps. */
export const STATE_OPERATIONS: readonly Operation[] = [
  {
    ...COMMON,
    method: "GET",
    path: `${GATEWAY_BASE}/responses/:id`,
    summary: "Retrieve a kept response, or the events of a background response",
    params: ofResponse,
    query: z.object({
      stream: z
        .enum(["true", "false"])
        .optional()
        .describe("Whether the events of a background response are sent, until its end."),
      starting_after: z
        .int()
        .min(0)
        .optional()
        .describe("With `stream`: the `sequence_number` of the last event that you have."),
    }),
    responses: [
      ok("The response; with `stream=true` its events.", ResponsesResponse),
      ok("The events of a background response.", null, "text/event-stream"),
    ],
  },
  {
    ...COMMON,
    method: "DELETE",
    path: `${GATEWAY_BASE}/responses/:id`,
    summary: "Delete a kept response. Responses that continue it can no longer be continued",
    params: ofResponse,
    responses: [ok("The response is deleted.", deleted("response"))],
    errors: [...ERRORS, "conflict"],
  },
  {
    ...COMMON,
    method: "POST",
    path: `${GATEWAY_BASE}/responses/:id/cancel`,
    summary: "Cancel a background response. What it has produced is charged",
    params: ofResponse,
    responses: [ok("The response.", ResponsesResponse)],
  },
  {
    ...COMMON,
    method: "GET",
    path: `${GATEWAY_BASE}/responses/:id/input_items`,
    summary: "List the items that a response was made from, with those that it continues",
    params: ofResponse,
    query: PAGE,
    responses: [ok("The items.", ItemList)],
  },
  {
    ...COMMON,
    method: "POST",
    path: `${GATEWAY_BASE}/conversations`,
    summary: "Create a conversation",
    body: namedBody("ConversationRequest", { items: items.nullish(), metadata: metadata.nullish() }),
    responses: [ok("The conversation.", Conversation)],
    errors: [...ERRORS, "payload_too_large"],
  },
  {
    ...COMMON,
    method: "GET",
    path: `${GATEWAY_BASE}/conversations/:id`,
    summary: "Retrieve a conversation",
    params: ofConversation,
    responses: [ok("The conversation.", Conversation)],
  },
  {
    ...COMMON,
    method: "POST",
    path: `${GATEWAY_BASE}/conversations/:id`,
    summary: "Replace the metadata of a conversation",
    params: ofConversation,
    body: namedBody("ConversationChange", { metadata }),
    responses: [ok("The conversation.", Conversation)],
  },
  {
    ...COMMON,
    method: "GET",
    path: `${GATEWAY_BASE}/conversations/:id/items`,
    summary: "List the items of a conversation",
    params: ofConversation,
    query: PAGE,
    responses: [ok("The items.", ItemList)],
  },
  {
    ...COMMON,
    method: "POST",
    path: `${GATEWAY_BASE}/conversations/:id/items`,
    summary: "Add items to a conversation",
    params: ofConversation,
    body: namedBody("ConversationItems", { items }),
    responses: [ok("The added items, with their ids.", ItemList)],
    errors: [...ERRORS, "conflict", "payload_too_large"],
  },
  {
    ...COMMON,
    method: "GET",
    path: `${GATEWAY_BASE}/conversations/:id/items/:item`,
    summary: "Retrieve an item of a conversation",
    params: ofItem,
    responses: [ok("The item.", item)],
  },
  {
    ...COMMON,
    method: "DELETE",
    path: `${GATEWAY_BASE}/conversations/:id/items/:item`,
    summary: "Delete an item of a conversation",
    params: ofItem,
    responses: [ok("The conversation.", Conversation)],
    errors: [...ERRORS, "conflict"],
  },
  {
    ...COMMON,
    method: "DELETE",
    path: `${GATEWAY_BASE}/conversations/:id`,
    summary: "Delete a conversation. Its responses stay until they expire or are deleted",
    params: ofConversation,
    responses: [ok("The conversation is deleted.", deleted("conversation.deleted"))],
  },
];
