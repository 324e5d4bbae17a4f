import { z } from "zod";
import { type ErrorCode, fail, failureOf } from "../../base/failures/errors.ts";
import { parseBody } from "../../base/json/check-fields.ts";
import { ADMIN_KEY_ID, credentialIdOf, type Principal } from "../../core/accounts/records/principal.ts";
import type { Handler, HttpDeps, RequestContext } from "../context/context.ts";
import type { StoreDeps } from "../context/store-deps.ts";
import { urlOf } from "../context/url-of.ts";
import { admit } from "../middleware/admit.ts";
import type { Access, PrincipalFor } from "../middleware/authorize.ts";
import { baseUrlOf } from "../middleware/browser-checks.ts";
import { hasRecentSignIn, requireRecentSignIn } from "../middleware/recent-sign-in.ts";
import { type AuditDetails, type AuditSource, commitChange, makeChange } from "./audit-change.ts";
import { respondOnce } from "./respond-once.ts";
import { findSignInRule, type RuledRequest, type SignInRule } from "./sign-in-rules.ts";

type Schema = z.ZodType;

/** The needs of an endpoint: only the stores, or the memory and connections of a running gateway. */
type Needs = "stores" | "gateway";

/** The validated input of a handler that needs only the stores. */
export interface StoreInput<Principal, Params, Query, Body> {
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: Headers;
  readonly deps: StoreDeps;
  /** The id of the console session that the request belongs to; null without one. */
  readonly sessionId: string | null;
  /**
   * Returns the URL of the console for browsers.
   * @throws GatewayError `conflict` if the console is disabled; Error if the gateway has no fixed address.
   */
  consoleUrl(): string;
  /** Sets the audit entry of a change. Without a call the entry has the ids of the path and the names of the body's fields. */
  audit(details: AuditDetails): void;
}

/** The validated input of a handler that needs a running gateway. */
interface GatewayInput<Principal, Params, Query, Body>
  extends Omit<StoreInput<Principal, Params, Query, Body>, "deps"> {
  readonly deps: HttpDeps;
  readonly request: Request;
  readonly context: RequestContext;
  /**
   * Returns the current principal, for long responses; null if it would no longer be admitted. While the store is unavailable, returns the
   * last known one.
   */
  currentPrincipal(): Promise<Principal | null>;
}

/** The validated input of an endpoint's handler. */
type InputFor<N extends Needs, Principal, Params, Query, Body> = N extends "gateway"
  ? GatewayInput<Principal, Params, Query, Body>
  : StoreInput<Principal, Params, Query, Body>;

/** The declaration of an endpoint of the management or self-service API. */
interface EndpointDeclaration<
  A extends Access = Access,
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
  Response extends Schema = Schema,
  N extends Needs = Needs,
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
  /**
   * What the handler needs. Default: the stores, so that commands run the endpoint in their own process. Otherwise a command calls a
   * running gateway.
   */
  readonly needs?: N;
  readonly access: A;
  /** The schemas of path, query and body. Absent: it takes none. */
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** The schema of the response body. */
  readonly response: Response;
  /** Status of a successful response. Default: 200. */
  readonly status?: 201;
  /** Status returned instead of `status` when the resource already exists. */
  readonly existingStatus?: 200;
  /** Error codes in addition to those of every endpoint of its kind. */
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
    input: InputFor<N, PrincipalFor<A>, z.infer<Params>, z.infer<Query>, z.infer<Body>>,
  ): Promise<unknown> | unknown;
}

/** An endpoint of the management or self-service API. Routing, validation and the OpenAPI document derive from it. */
export interface Endpoint<
  A extends Access = Access,
  Params extends Schema = Schema,
  Query extends Schema = Schema,
  Body extends Schema = Schema,
  Response extends Schema = Schema,
  N extends Needs = Needs,
> extends EndpointDeclaration<A, Params, Query, Body, Response, N> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

/** The schema of a path, query or body without fields. */
export const NOTHING = z.strictObject({});
type Nothing = typeof NOTHING;

/** Returns the endpoint of a declaration, from whose schemas TypeScript infers the types of the handler. */
export function defineEndpoint<
  const A extends Access,
  Response extends Schema,
  Params extends Schema = Nothing,
  Query extends Schema = Nothing,
  Body extends Schema = Nothing,
  const N extends Needs = "stores",
>(
  declaration: EndpointDeclaration<A, Params, Query, Body, Response, N>,
): Endpoint<A, Params, Query, Body, Response, N> {
  const nothing = { params: NOTHING, query: NOTHING, body: NOTHING };
  return { ...nothing, ...declaration } as Endpoint<A, Params, Query, Body, Response, N>;
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
    const source = sourceOf(endpoint, input);
    if (!isAudited(endpoint)) return respond(endpoint, await endpoint.handle(input as HandlerInput));
    const name = endpoint.method === "POST" ? request.headers.get("idempotency-key") : null;
    const change: Change = { endpoint, input, source, details };
    return name === null ? makeAudited(change) : makeOnce(change, name);
  };
}

/** A call of an endpoint by a command. */
interface CommandCall {
  readonly deps: StoreDeps;
  /** The command with its words, as the audit log records it: `gateway keys create`. */
  readonly command: string;
  /** As in `StoreInput`. */
  readonly consoleUrl: () => string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Runs an endpoint that needs only the stores for a command: with the same validation, handler and audit entry as for a request, with the
 * rights of the operator, and without a server.
 * @throws GatewayError as the endpoint; Error for an endpoint that needs a running gateway.
 */
export async function runForCommand(
  endpoint: Endpoint,
  { deps, command, consoleUrl, params, query, body }: CommandCall,
): Promise<Response> {
  if (endpoint.needs === "gateway") throw new Error(`${endpoint.path} needs a running gateway`);
  const details: AuditDetails[] = [];
  const input: StoreInput<Principal, unknown, unknown, unknown> = {
    principal: { kind: "operator", keyId: ADMIN_KEY_ID },
    params: validate(endpoint.params, params, "path"),
    query: validate(endpoint.query, query, "query"),
    body: validate(endpoint.body, body, "body"),
    headers: new Headers(),
    deps,
    sessionId: null,
    consoleUrl,
    audit: (one) => void details.push(one),
  };
  const source = { action: command, keyId: null, userId: null, accountId: null, requestId: null };
  return isAudited(endpoint)
    ? makeAudited({ endpoint, input, source, details })
    : respond(endpoint, await endpoint.handle(input as HandlerInput));
}

/** Returns whether an endpoint needs a recent sign-in. A change that no rule is about does. */
export function signInRuleOf({ method, path, access, changesNothing }: Endpoint): SignInRule {
  const isChange = method !== "GET" && changesNothing !== true;
  if (!isChange || access.kind === "sign_in" || access.kind === "signed") return "never";
  return findSignInRule(method, path) ?? "always";
}

type AnyInput = StoreInput<Principal, unknown, unknown, unknown>;
type HandlerInput = Parameters<Endpoint["handle"]>[0];
type ReadInput = GatewayInput<Principal, unknown, unknown, unknown>;

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
): ReadInput {
  return {
    principal,
    params: validate(endpoint.params, context.params, "path"),
    query: validate(endpoint.query, Object.fromEntries(urlOf(request).searchParams), "query"),
    body: validate(endpoint.body, parseJson(body), "body"),
    headers: request.headers,
    deps: context.deps,
    sessionId: context.session?.id ?? null,
    consoleUrl: () =>
      context.deps.browser.console === null
        ? rejectWithoutConsole()
        : `${baseUrlOf(request, context)}/console`,
    request,
    context,
    currentPrincipal: () =>
      admit(request, context, endpoint.access).then(
        (admission): Principal => admission.principal,
        (error) => (failureOf(error).code === "unavailable" ? principal : null),
      ),
    audit: (one) => void details.push(one),
  };
}

/** @throws GatewayError `conflict` because the console is disabled. */
export function rejectWithoutConsole(): never {
  return fail("conflict", "The console is disabled. Set console.enabled: true.");
}

/** Returns whether a call has entries in the audit log. */
function isAudited({ method, changesNothing, audited }: Endpoint): boolean {
  return audited === true || (method !== "GET" && changesNothing !== true);
}

/** @throws Error for an endpoint that admits anonymous callers, whose changes would have no author. */
function sourceOf({ method, path }: Endpoint, { principal, context }: ReadInput): AuditSource {
  if (principal.kind === "anonymous") throw new Error(`${path} admits anonymous callers`);
  const key = principal.kind === "key" ? principal.key : null;
  return {
    action: `${method} ${path}`,
    keyId: credentialIdOf(principal),
    userId: key?.userId ?? null,
    accountId: key?.accountId ?? null,
    requestId: context.requestId,
  };
}

function respond(endpoint: Endpoint, result: unknown): Response {
  return result instanceof Response ? result : Response.json(result, { status: endpoint.status ?? 200 });
}

/** A change that is made with its audit entries. */
interface Change {
  readonly endpoint: Endpoint;
  readonly input: AnyInput;
  readonly source: AuditSource;
  /** Filled by the handler. */
  readonly details: readonly AuditDetails[];
}

async function makeAudited({ endpoint, input, source, details }: Change): Promise<Response> {
  const make = () => endpoint.handle(input as HandlerInput);
  const { result, entryId } = await makeChange(source, input, make);
  await commitChange(source, input, { entryId, details });
  return respond(endpoint, result);
}

async function makeOnce({ endpoint, input, source, details }: Change, name: string): Promise<Response> {
  const { request, deps } = input as ReadInput;
  const url = urlOf(request);
  const storage = { responses: deps.resources.storedResponses, now: deps.clock.now };
  const idempotent = {
    name,
    keyId: source.keyId as string,
    content: JSON.stringify([endpoint.method, url.pathname + url.search, input.body]),
    respondsWithSecret: endpoint.respondsWithSecret === true,
  };
  let entryId: number | null = null;
  const response = await respondOnce(storage, idempotent, async () => {
    const change = await makeChange(source, input, () => endpoint.handle(input as HandlerInput));
    entryId = change.entryId;
    return { status: endpoint.status ?? 200, body: change.result };
  });
  if (entryId !== null) await commitChange(source, input, { entryId, details });
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
