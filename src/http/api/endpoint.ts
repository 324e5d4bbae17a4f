import { z } from "zod";
import { type ErrorCode, fail, failureOf } from "../../base/failures/errors.ts";
import { credentialIdOf, type Principal } from "../../core/accounts/records/principal.ts";
import { parseBody } from "../../wire/json/check-fields.ts";
import type { Handler, HttpDeps, RequestContext } from "../context/context.ts";
import { urlOf } from "../context/url-of.ts";
import { admit } from "../middleware/admit.ts";
import type { Access, PrincipalFor } from "../middleware/authorize.ts";
import { hasRecentSignIn, requireRecentSignIn } from "../middleware/recent-sign-in.ts";
import { type AuditDetails, type AuditedPrincipal, commitChange, makeChange } from "./audit-change.ts";
import { respondOnce } from "./respond-once.ts";
import { findSignInRule, type RuledRequest, type SignInRule } from "./sign-in-rules.ts";

type Schema = z.ZodType;

/** The validated input of an endpoint's handler. */
export interface ApiInput<Principal, Params, Query, Body> {
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: Headers;
  readonly deps: HttpDeps;
  readonly requestId: string;
  readonly request: Request;
  readonly context: RequestContext;
  /**
   * Returns the principal as it is now, for responses that last; null if it would not be admitted any more. While the store is
   * unavailable it is as it was.
   */
  currentPrincipal(): Promise<Principal | null>;
  /** Sets the audit entry of a change. Without a call the entry has the ids of the path and the names of the body's fields. */
  audit(details: AuditDetails): void;
}

/** An endpoint of the management or self-service API. Routing, validation and the OpenAPI document derive from it. */
export interface Endpoint<
  A extends Access = Access,
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path, with `:name` for parameters: `/api/admin/keys/:id`. */
  readonly path: string;
  /** The endpoint is served under every gateway prefix (`/api/gateway`, `/v1` and so on), which `path` then leaves out. */
  readonly everyPrefix?: true;
  /** The group of the endpoint in the documentation. */
  readonly tag: string;
  /** A short imperative sentence without a full stop. */
  readonly summary: string;
  readonly access: A;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The schema of the response body. */
  readonly response: Schema;
  /** Status of a successful response. Default: 200. */
  readonly status?: 201;
  /** Status returned instead of `status` when the resource already exists. */
  readonly existingStatus?: 200;
  /** Error codes besides those of every endpoint of its kind. */
  readonly errors?: readonly ErrorCode[];
  /** The response is a stream of server-sent events, which this text describes. `response` is ignored. */
  readonly events?: string;
  /** The response is also available as CSV. */
  readonly csv?: true;
  /** A read of sensitive data: like a change, it has an entry in the audit log before the response is sent. */
  readonly audited?: true;
  /** A `POST` that only reads, with more input than a query can have: no audit entry and no `Idempotency-Key`. */
  readonly changesNothing?: true;
  /** The response contains a secret, so it is not stored for a repeated request with the same Idempotency-Key. */
  readonly respondsWithSecret?: true;
  handle(
    input: ApiInput<PrincipalFor<A>, z.infer<Params>, z.infer<Query>, z.infer<Body>>,
  ): Promise<unknown> | unknown;
}

/** The schema of a path, query or body without fields. */
export const NOTHING = z.strictObject({});

/** Returns the endpoint as it is. Exists so that TypeScript infers the handler's types from the schemas. */
export function defineEndpoint<
  const A extends Access,
  Params extends Schema,
  Query extends Schema,
  Body extends Schema,
>(endpoint: Endpoint<A, Params, Query, Body>): Endpoint<A, Params, Query, Body> {
  return endpoint;
}

/**
 * Returns the HTTP handler of an endpoint. It admits and validates the request, and responds with JSON, or with the `Response`
 * that the endpoint returns. Changes and audited reads are written to the audit log; a change with an `Idempotency-Key` is made once.
 */
export function serveEndpoint(endpoint: Endpoint): Handler {
  return async (request, context) => {
    const { principal, body } = await admit(request, context, endpoint.access);
    const rule = signInRuleOf(endpoint);
    if (rule === "always") requireRecentSignIn(context);
    const details: AuditDetails[] = [];
    const input = readInput(endpoint, { request, context, principal, body, details });
    if (typeof rule === "function" && !hasRecentSignIn(context) && (await rule(input as RuledRequest)))
      requireRecentSignIn(context);
    // There is no principal to record before the sign-in. Its handler writes the audit entry.
    if (endpoint.access.kind === "sign_in")
      return respond(endpoint, await endpoint.handle(input as HandlerInput));
    if (!isAudited(input)) throw new Error(`${endpoint.path} admits anonymous callers`);
    if ((endpoint.method === "GET" || endpoint.changesNothing === true) && !endpoint.audited)
      return respond(endpoint, await endpoint.handle(input as HandlerInput));
    const name = endpoint.method === "POST" ? request.headers.get("idempotency-key") : null;
    return name === null ? change(endpoint, input, details) : changeOnce(endpoint, input, { name, details });
  };
}

/** Returns whether an endpoint needs a recent sign-in. A change that no rule is about does. */
export function signInRuleOf({ method, path, access, changesNothing }: Endpoint): SignInRule {
  const isChange = method !== "GET" && changesNothing !== true;
  if (!isChange || access.kind === "sign_in" || access.kind === "signed") return "never";
  return findSignInRule(method, path) ?? "always";
}

type Input<P> = ApiInput<P, unknown, unknown, unknown> & { readonly url: URL };
type AnyInput = Input<AuditedPrincipal>;
type HandlerInput = Parameters<Endpoint["handle"]>[0];

interface AdmittedRequest {
  readonly request: Request;
  readonly context: RequestContext;
  readonly principal: Principal;
  readonly body: Buffer;
  readonly details: AuditDetails[];
}

function readInput(
  endpoint: Endpoint,
  { request, context, principal, body, details }: AdmittedRequest,
): Input<Principal> {
  const url = urlOf(request);
  return {
    principal,
    params: validate(endpoint.params, context.params, "path"),
    query: validate(endpoint.query, Object.fromEntries(url.searchParams), "query"),
    body: validate(endpoint.body, parseJson(body), "body"),
    headers: request.headers,
    deps: context.deps,
    requestId: context.requestId,
    request,
    context,
    currentPrincipal: () =>
      admit(request, context, endpoint.access).then(
        (admission): Principal => admission.principal,
        (error) => (failureOf(error).code === "unavailable" ? principal : null),
      ),
    url,
    audit: (one) => void details.push(one),
  };
}

function isAudited(input: Input<Principal>): input is AnyInput {
  return input.principal.kind !== "anonymous";
}

function respond(endpoint: Endpoint, result: unknown): Response {
  return result instanceof Response ? result : Response.json(result, { status: endpoint.status ?? 200 });
}

async function change(
  endpoint: Endpoint,
  input: AnyInput,
  details: readonly AuditDetails[],
): Promise<Response> {
  const make = () => endpoint.handle(input as HandlerInput);
  const { result, entryId } = await makeChange(endpoint, input, make);
  await commitChange(endpoint, input, { entryId, details });
  return respond(endpoint, result);
}

async function changeOnce(
  endpoint: Endpoint,
  input: AnyInput,
  { name, details }: { readonly name: string; readonly details: readonly AuditDetails[] },
): Promise<Response> {
  const { deps, principal, body, url } = input;
  const storage = { responses: deps.storedResponses, now: deps.clock.now };
  const idempotent = {
    name,
    keyId: credentialIdOf(principal),
    content: JSON.stringify([endpoint.method, url.pathname + url.search, body]),
    respondsWithSecret: endpoint.respondsWithSecret === true,
  };
  let entryId: number | null = null;
  const response = await respondOnce(storage, idempotent, async () => {
    const make = () => endpoint.handle(input as HandlerInput);
    const change = await makeChange(endpoint, input, make);
    entryId = change.entryId;
    return { status: endpoint.status ?? 200, body: change.result };
  });
  if (entryId !== null) await commitChange(endpoint, input, { entryId, details });
  return new Response(response.body, {
    status: response.status,
    headers: {
      "content-type": "application/json",
      ...(response.isRepeated ? { "idempotent-replayed": "true" } : {}),
    },
  });
}

/** An absent body is an empty object, because every field may have a default. */
function parseJson(bytes: Buffer): unknown {
  return bytes.length === 0 ? {} : parseBody(bytes);
}

/** @throws GatewayError `invalid_request` that names the first invalid field. */
function validate(schema: Schema, value: unknown, where: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") || where;
  return fail("invalid_request", `${field}: ${issue?.message ?? "is not valid"}.`, { metadata: { field } });
}
