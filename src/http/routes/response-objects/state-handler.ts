import { fail, rejectField } from "../../../base/failures/errors.ts";
import { policyOf } from "../../../core/accounts/records/merge-policies.ts";
import type { AccountPrincipal } from "../../../core/accounts/records/principal.ts";
import { ownerOf } from "../../../core/response-objects/chains/object-access.ts";
import type { PageQuery } from "../../../core/response-objects/present-response.ts";
import type { ObjectOwner } from "../../../core/response-objects/records/response-object.ts";
import type { StateMemory } from "../../../core/response-objects/records/state-memory.ts";
import { RESPONSES } from "../../../wire/client-apis/responses-request.ts";
import type { Handler, RequestContext } from "../../context/context.ts";
import { rendererOf } from "../../errors/client-api-errors.ts";
import { admit } from "../../middleware/admit.ts";
import { memoryOf } from "../../middleware/read-body.ts";

/** A request of a key for what it keeps. */
export interface StateCall {
  readonly caller: ObjectOwner;
  readonly context: RequestContext;
  /** Empty for methods without a body. */
  readonly body: Buffer;
  readonly memory: StateMemory;
  /** Returns a parameter of the path. */
  param(name: string): string;
  /** @throws GatewayError `invalid_request` if nothing of the caller may be stored. */
  requireStorable(): void;
}

const renderStateError = rendererOf(RESPONSES);

/** Returns a handler for inference keys, whose errors have the form of the Responses API. */
export function stateHandler(handle: (call: StateCall) => Promise<Response>): Handler {
  return async (request, context) => {
    context.renderError = renderStateError;
    const { principal, body } = await admit(request, context, { kind: "inference" });
    return handle({
      caller: ownerOf(principal),
      context,
      body,
      memory: memoryOf(context, principal),
      param: (name) => context.params[name] ?? "",
      requireStorable: () => requireStorable(context, principal),
    });
  };
}

function requireStorable({ deps }: RequestContext, principal: AccountPrincipal): void {
  if (policyOf(deps.generation.settings.policy, principal).zeroRetention === null) return;
  fail(
    "invalid_request",
    "Conversations are not kept for this key: its policy demands zero data retention. Send the whole conversation in input.",
  );
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
