import { fail, GatewayError, rejectField } from "../../../base/failures/errors.ts";
import { parseBody } from "../../../base/json/check-fields.ts";
import { asFields, type Fields } from "../../../base/json/fields.ts";
import type { Metadata } from "../../../core/response-objects/conversations.ts";
import { pageOf } from "../../../core/response-objects/present-response.ts";
import { parseResponsesRequest } from "../../../wire/client-apis/responses-request.ts";
import type { Routes } from "../../inference/api-routes.ts";
import { readPageQuery, type StateCall, stateHandler } from "./state-handler.ts";

const conversationsOf = ({ context }: StateCall) => context.deps.features.responses.conversations;

/** OpenAI's Conversations API, under every gateway prefix (docs/api/responses.md). */
export const CONVERSATION_ROUTES: Routes = {
  "/conversations": {
    POST: stateHandler(async (call) => {
      call.requireStorable();
      const body = readBody(call);
      const created = await conversationsOf(call).create(call.caller, readMetadata(body), readItems(body));
      return Response.json(created);
    }),
  },
  "/conversations/:id": {
    GET: stateHandler(async (call) =>
      Response.json(await conversationsOf(call).find(call.caller, call.param("id"))),
    ),
    POST: stateHandler(async (call) => {
      call.requireStorable();
      const metadata = readMetadata(readBody(call));
      return Response.json(await conversationsOf(call).change(call.caller, call.param("id"), metadata));
    }),
    DELETE: stateHandler(async (call) => {
      const id = call.param("id");
      await conversationsOf(call).delete(call.caller, id);
      return Response.json({ id, object: "conversation.deleted", deleted: true });
    }),
  },
  "/conversations/:id/items": {
    GET: stateHandler(async (call) => {
      const { caller, context, memory } = call;
      const query = readPageQuery(context);
      const items = await conversationsOf(call).listItems({ caller, id: call.param("id"), memory });
      return Response.json(pageOf(items, query));
    }),
    POST: stateHandler(async (call) => {
      call.requireStorable();
      const items = readItems(readBody(call));
      if (items.length === 0) rejectField("items", "is required: an array of one item or more");
      const added = await conversationsOf(call).addItems(call.caller, call.param("id"), items);
      return Response.json(pageOf(added, { order: "asc", limit: added.length, after: null }));
    }),
  },
  "/conversations/:id/items/:item": {
    GET: stateHandler(async (call) =>
      Response.json(await conversationsOf(call).findItem(call.caller, call.param("id"), call.param("item"))),
    ),
    DELETE: stateHandler(async (call) =>
      Response.json(
        await conversationsOf(call).deleteItem(call.caller, call.param("id"), call.param("item")),
      ),
    ),
  },
};

function readBody({ body }: StateCall): Fields {
  return body.length === 0 ? {} : parseBody(body);
}

/** As OpenAI's API bounds them. */
const METADATA = { pairs: 16, keyChars: 64, valueChars: 512 } as const;

function readMetadata(body: Fields): Metadata {
  const value = body["metadata"] ?? {};
  const metadata = asFields(value) ?? rejectField("metadata", "must be an object of texts");
  const pairs = Object.entries(metadata);
  if (pairs.length > METADATA.pairs)
    rejectField("metadata", `must not have more than ${METADATA.pairs} keys`);
  for (const [key, text] of pairs) {
    if (key.length > METADATA.keyChars)
      rejectField("metadata", `must not have keys of more than ${METADATA.keyChars} characters`);
    if (typeof text !== "string" || text.length > METADATA.valueChars)
      rejectField("metadata", `must have texts of up to ${METADATA.valueChars} characters as its values`);
  }
  return metadata as Metadata;
}

/** As OpenAI's API bounds them. */
const MAX_ITEMS = 20;

/** Returns items as JSON, after the checks of an input. @throws GatewayError `invalid_request`. */
function readItems(body: Fields): readonly string[] {
  const { items } = body;
  if (items === undefined || items === null) return [];
  if (!Array.isArray(items)) return rejectField("items", "must be an array of items");
  if (items.length > MAX_ITEMS) rejectField("items", `must not have more than ${MAX_ITEMS} items`);
  const request = Buffer.from(JSON.stringify({ model: "any/model", input: items }));
  try {
    const state = parseResponsesRequest(request, (id) => id).readState?.();
    return (state?.listAdded(new Map()) ?? []).map(({ item }) => item);
  } catch (error) {
    return rejectItems(error);
  }
}

/** The checks name the input, which is `items` here. */
function rejectItems(error: unknown): never {
  if (!(error instanceof GatewayError)) throw error;
  const { code, message, metadata } = error.failure;
  const field = String(metadata?.["field"] ?? "items").replace(/^input/, "items");
  return fail(code, message.replace(/^input/, "items"), { metadata: { ...metadata, field } });
}
