import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import { DAY_MS } from "../../../base/time/time.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../../core/accounts/records/records.ts";
import { findNames } from "../../../core/accounts/stores/find-names.ts";
import type { ObjectHead } from "../../../core/response-objects/records/response-object.ts";
import { listedAccountOf, listedOwnersOf, mayRead, needs, readScopeOf } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { findChangeable, findKept, mayChange, onlyReadable } from "./find-kept.ts";
import {
  KeptResponseDetails,
  KeptResponseView,
  presentEntry,
  presentGenerationOf,
  presentHead,
  StatusView,
} from "./response-views.ts";

const TAG = "Kept responses";

const ResponseParams = z.object({
  id: z
    .string()
    .regex(/^(?:gen|items)_\w{1,60}$/, "must be the id of a response, gen_…, or of items, items_…")
    .describe("Id of the response (`gen_…`), or of items of a conversation (`items_…`)."),
});

const ListQuery = z.strictObject({
  limit: PAGE_QUERY.limit,
  after: z
    .string()
    .regex(/^(?:gen|items)_\w{1,60}$/, "must be the `next` of a previous page")
    .optional()
    .describe("The `next` of the previous page."),
  account_id: IdInput.optional().describe(
    "The account. Default: that of the management key; for the operator, that of `key_id`, or else the operator's own.",
  ),
  user_id: IdInput.optional().describe("Only responses of this user's keys."),
  key_id: IdInput.optional().describe(
    "Only responses of this API key. Without the right to read the whole account, it must be your own, or of a team that you lead.",
  ),
  conversation_id: z
    .string()
    .regex(/^conv_\w{1,60}$/, "must be the id of a conversation, conv_…")
    .optional()
    .describe("Only responses and items of this conversation (`conv_…`)."),
  background: z
    .enum(["true", "false"])
    .optional()
    .describe("`true`: only background responses; `false`: only others."),
  status: StatusView.optional().describe("Only responses with this status."),
});

/** `GET /api/admin/responses`: the kept responses of an account, newest first. */
export const listKeptResponses = defineEndpoint({
  method: "GET",
  path: "/api/admin/responses",
  tag: TAG,
  summary: "List the kept responses of an account without their contents, newest first",
  access: needs("own"),
  query: ListQuery,
  response: pageView(KeptResponseView),
  async handle({ principal, query, deps }) {
    const owner = await findListedOwner(deps, principal, query);
    return makePage<ObjectHead>({
      limit: query.limit,
      load: (limit) =>
        deps.resources.responses.list({
          ...owner,
          conversationId: query.conversation_id ?? null,
          isBackground: query.background === undefined ? null : query.background === "true",
          status: query.status ?? null,
          before: query.after ?? null,
          limit,
        }),
      async present(heads) {
        const names = await findNames(deps.resources.keyStores, heads);
        return heads.map((head) => presentHead(head, names));
      },
      cursorOf: ({ id }) => id,
    });
  },
});

/**
 * Returns whose responses a list shows: by default those of the account that the principal may read. A key that it may read stands for
 * itself, so that leads list the keys of their teams.
 * @throws GatewayError `not_found` for an account, a user or a key that the principal may not read.
 */
async function findListedOwner(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  query: z.infer<typeof ListQuery>,
) {
  const { key_id: keyId = null } = query;
  const asked = listedAccountOf(principal, query.account_id);
  if (keyId !== null && (asked === null || readScopeOf(principal) !== null)) {
    const key = await deps.resources.keyStores.keys.findKey(keyId);
    if (key === null || !mayRead(principal, key))
      return fail("not_found", "There is no key with that id. GET /api/admin/keys lists the keys.", {
        metadata: { field: "key_id" },
      });
    return { accountId: key.accountId, userId: query.user_id ?? null, keyId };
  }
  const accountId = asked ?? DEFAULT_ACCOUNT_ID;
  return { accountId, userId: listedOwnersOf(principal, query).userId, keyId };
}

/** `GET /api/admin/responses/usage`: how much of its limit an account keeps. */
export const getKeptUsage = defineEndpoint({
  method: "GET",
  path: "/api/admin/responses/usage",
  tag: TAG,
  summary: "Retrieve how many bytes of kept responses an account has, and its limit",
  access: needs("read"),
  query: z.strictObject({
    account_id: IdInput.optional().describe(
      "The account. Default: that of the management key; for the operator, the operator's own.",
    ),
  }),
  response: z.object({
    data: z.object({
      account_id: z.string(),
      bytes: z.int().describe("Size of all kept responses, in bytes."),
      limit_bytes: z
        .int()
        .describe("The most that an account may keep, in bytes (`responses.account_bytes`)."),
      retention_days: z
        .number()
        .describe("Days after its last use for which a chain is kept (`responses.retention_days`)."),
    }),
  }),
  async handle({ principal, query, deps }) {
    const accountId = listedAccountOf(principal, query.account_id) ?? DEFAULT_ACCOUNT_ID;
    const { bytes, limitBytes, retentionMs } = await deps.resources.responses.sumBytes(accountId);
    return {
      data: { account_id: accountId, bytes, limit_bytes: limitBytes, retention_days: retentionMs / DAY_MS },
    };
  },
});

/** `GET /api/admin/responses/{id}`: a kept response with its cost and its chain. */
export const getKeptResponse = defineEndpoint({
  method: "GET",
  path: "/api/admin/responses/:id",
  tag: TAG,
  summary: "Retrieve a kept response without its contents: its status, cost, conversation and chain",
  access: needs("own"),
  params: z.object({
    id: z
      .string()
      .regex(
        /^(?:gen|items|conv)_\w{1,60}$/,
        "must be the id of a response, gen_…, of items, items_…, or of a conversation, conv_…",
      )
      .describe(
        "Id of the response (`gen_…`) or of items of a conversation (`items_…`); or of a conversation (`conv_…`), for the newest of it.",
      ),
  }),
  response: z.object({ data: KeptResponseDetails }),
  async handle({ principal, params, deps }) {
    const found = await findKept(deps, principal, params.id);
    const { head, teamId } = found;
    const { responses, keyStores } = deps.resources;
    const { heads, isTruncated } = await responses.listChain(head);
    const readable = await onlyReadable(deps, principal, heads);
    const names = await findNames(keyStores, [{ ...head, teamId }]);
    const { conversationId } = head;
    return {
      data: {
        ...presentHead(head, names),
        team_id: teamId,
        team_name: names.team(teamId),
        chain_bytes: head.chainBytes,
        may_change: mayChange(principal, found),
        generation: presentGenerationOf(
          head.kind === "items" ? null : await deps.generation.recorder.find(head.id),
        ),
        conversation:
          conversationId === null
            ? null
            : { id: conversationId, metadata: await responses.findMetadata(conversationId) },
        chain: readable.map(presentEntry),
        is_truncated: isTruncated,
      },
    };
  },
});

const Item = z.record(z.string(), z.unknown());

/** `GET /api/admin/responses/{id}/items`: the contents of a kept response. */
export const getKeptItems = defineEndpoint({
  method: "GET",
  path: "/api/admin/responses/:id/items",
  tag: TAG,
  summary: "Retrieve the contents of a kept response: the items that it added to its chain",
  access: needs("inspect"),
  audited: true,
  params: ResponseParams,
  response: z.object({
    data: z.object({
      id: z.string(),
      account_id: z.string(),
      input: z.array(Item).describe("The items that its request added, in the form of the Responses API."),
      output: z.array(Item).describe("The items of the answer."),
      response: Item.nullable().describe(
        "The response as the client got it, without `output`. `null` for items, and before a response has begun.",
      ),
    }),
  }),
  async handle({ principal, params, deps, audit }) {
    const { head } = await findKept(deps, principal, params.id);
    const { input, output, response } = await deps.resources.responses.open(head.id);
    audit({ accountId: head.accountId });
    return {
      data: {
        id: head.id,
        account_id: head.accountId,
        input: parseItems(input),
        output: parseItems(output),
        response: response === null ? null : tryParseFields(response),
      },
    };
  },
});

function parseItems(items: readonly string[]) {
  return items.map(tryParseFields).filter((item) => item !== null);
}

/** `POST /api/admin/responses/{id}/cancel`: ends a background response. */
export const cancelKeptResponse = defineEndpoint({
  method: "POST",
  path: "/api/admin/responses/:id/cancel",
  tag: TAG,
  summary:
    "Cancel a background response. What it has produced is charged. The status is that after five seconds at the latest",
  access: needs("own"),
  params: ResponseParams,
  response: z.object({ data: KeptResponseView }),
  async handle({ principal, params, deps, audit }) {
    const { resources } = deps;
    const found = await findChangeable(deps, principal, params.id);
    const head = await resources.responses.cancel(found);
    audit({ accountId: head.accountId, target: head.id, changes: { cancelled: true } });
    return { data: presentHead(head, await findNames(resources.keyStores, [head])) };
  },
});

/** `DELETE /api/admin/responses/{id}`: deletes a kept response. */
export const deleteKeptResponse = defineEndpoint({
  method: "DELETE",
  path: "/api/admin/responses/:id",
  tag: TAG,
  summary: "Delete a kept response. Responses that continue it stay, and can no longer be continued",
  access: needs("own"),
  params: ResponseParams,
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true) }) }),
  errors: ["conflict"],
  async handle({ principal, params, deps, audit }) {
    const head = await findChangeable(deps, principal, params.id);
    await deps.resources.responses.delete(head);
    audit({ accountId: head.accountId, target: head.id, changes: { deleted: true } });
    return { data: { id: head.id, deleted: true } };
  },
});
