import { rejectField } from "../../../base/failures/errors.ts";
import type { PageQuery } from "../../../core/response-objects/present-response.ts";
import type { ObjectOwner } from "../../../core/response-objects/records/response-object.ts";
import { RESPONSES } from "../../../wire/client-apis/responses-request.ts";
import type { Handler, RequestContext } from "../../context/context.ts";
import { rendererOf } from "../../errors/client-api-errors.ts";
import { admit } from "../../middleware/admit.ts";

/** A request of a key for what it keeps. */
export interface StateCall {
  readonly caller: ObjectOwner;
  readonly context: RequestContext;
  /** Empty for methods without a body. */
  readonly body: Buffer;
  /** Returns a parameter of the path. */
  param(name: string): string;
}

const renderStateError = rendererOf(RESPONSES);

/** Returns a handler for inference keys, whose errors have the form of the Responses API. */
export function stateHandler(handle: (call: StateCall) => Promise<Response>): Handler {
  return async (request, context) => {
    context.renderError = renderStateError;
    const { principal, body } = await admit(request, context, { kind: "inference" });
    const { account, key } = principal;
    const caller = { accountId: account.id, userId: key.userId, keyId: key.id };
    return handle({ caller, context, body, param: (name) => context.params[name] ?? "" });
  };
}

const MAX_PAGE = 100;
const USUAL_PAGE = 20;

/**
 * Reads the query of a list of items.
 * @throws GatewayError `invalid_request`.
 */
export function readPageQuery({ query }: RequestContext): PageQuery {
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") rejectField("order", "must be asc or desc");
  const limit = Number(query.get("limit") ?? USUAL_PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    rejectField("limit", `must be a whole number from 1 to ${MAX_PAGE}`);
  return { order, limit, after: query.get("after") };
}
