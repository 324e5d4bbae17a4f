import { fail } from "../../base/failures/errors.ts";
import { requireBodyBytes } from "../../base/json/reject-excess.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import type {
  AnonymousPrincipal,
  InferencePrincipal,
  ManagementPrincipal,
  Principal,
} from "../../core/accounts/records/principal.ts";
import type { RateLimitStatus } from "../../core/limits/rate-limiter.ts";
import { rejectAnonymous } from "../../core/limits/reject-anonymous.ts";
import type { HttpDeps, RequestContext } from "../context/context.ts";
import {
  type Access,
  authorizeInference,
  authorizeManagement,
  type PrincipalFor,
  requireInferenceKey,
} from "./authorize.ts";
import { requireConsoleHost, requireSameOrigin } from "./browser-checks.ts";
import { identify, identifyByAddress } from "./identify.ts";
import { identifyManagement, requireSession } from "./identify-session.ts";
import { readRequestBody } from "./read-body.ts";
import { verifySignature } from "./verify-signature.ts";

/** A request that may be handled. */
interface Admission<P extends Principal> {
  readonly principal: P;
  /** Empty for methods without a body. */
  readonly body: Buffer;
}

/**
 * Runs the steps before a handler, the same for every endpoint: identify, authorize, limit, read the body. A signature can
 * only be verified once the body is read, so a webhook is limited by its address until then.
 * @throws GatewayError of the first step that rejects the request.
 */
export function admit<A extends Access>(
  request: Request,
  context: RequestContext,
  access: A,
): Promise<Admission<PrincipalFor<A>>> {
  const admitted = isSigned(access)
    ? admitSigned(request, context)
    : admitIdentified(request, context, access);
  return admitted as Promise<Admission<PrincipalFor<A>>>;
}

type KeyAccess = Exclude<Access, { kind: "signed" }>;

function isSigned(access: Access): access is Extract<Access, { kind: "signed" }> {
  return access.kind === "signed";
}

async function admitSigned(request: Request, context: RequestContext) {
  const body = await readBody(request, context, identifyByAddress(request, context));
  requireManagementSize(body);
  return { principal: verifySignature(request.headers, body, context.deps), body };
}

async function admitIdentified(request: Request, context: RequestContext, access: KeyAccess) {
  if (access.kind === "optional_key") return admitAnyone(request, context);
  if (access.kind === "sign_in") return admitSignIn(request, context);
  if (access.kind === "console_session") {
    const identified = await requireSession(request, context);
    return admitManagement(request, context, await authorizeManagement(identified, ANY_ROLE, context));
  }
  if (access.kind === "account" || access.kind === "operator") {
    const identified = await identifyManagement(request, context);
    return admitManagement(request, context, await authorizeManagement(identified, access, context));
  }
  const principal =
    access.kind === "inference_key"
      ? requireInferenceKey(await identify(request, context))
      : await admitCaller(request, context, access);
  return { principal, body: await readBody(request, context, principal) };
}

type CallerAccess = Extract<Access, { kind: "open_inference" | "inference" }>;

/**
 * Runs the steps of `admit` for a caller of models, but leaves reading the body to its own caller. A client that has used up the anonymous
 * limit is rejected before its body is read, unless the body is small: if that names a paid model, the client needs a key and not patience.
 * The generation counts the request, later.
 * @throws GatewayError as `admit`.
 */
export async function admitCaller(
  request: Request,
  context: RequestContext,
  access: CallerAccess,
): Promise<InferencePrincipal> {
  const identified = await identify(request, context);
  const principal = await authorizeInference(identified, access, context);
  context.inferencePrincipal = principal;
  return principal.kind === "anonymous" ? rejectOverLimit(principal, context) : principal;
}

/** The maximum size of a body that is read from a client that has used up the anonymous limit. Bytes. */
const MAX_BYTES_OVER_LIMIT = 256 * 1024;

const ANY_ROLE = { kind: "account", right: "own" } as const;

async function admitManagement<P extends ManagementPrincipal | AnonymousPrincipal>(
  request: Request,
  context: RequestContext,
  principal: P,
) {
  const body = await readBody(request, context, principal);
  requireManagementSize(body);
  return { principal, body };
}

/** Admits a browser that signs in. Whether its credentials are valid is checked by the handler. */
function admitSignIn(request: Request, context: RequestContext) {
  const console =
    context.deps.browser.console ?? fail("not_found", "The console is disabled (console.enabled).");
  requireConsoleHost(request, console);
  requireSameOrigin(request, console, { acceptsOthers: true });
  return admitManagement(request, context, identifyByAddress(request, context));
}

/** Admits every caller, without a limit or a body. A key that is not valid or not allowed counts as no key. */
async function admitAnyone(request: Request, context: RequestContext) {
  const body = NO_BODY;
  const { headers } = context;
  const anonymous = () => ({ principal: identifyByAddress(request, context), body });
  if (!headers.has("authorization") && !headers.has("x-api-key")) return anonymous();
  try {
    const identified = await identify(request, context);
    const access = { kind: "open_inference" } as const;
    return { principal: await authorizeInference(identified, access, context), body };
  } catch {
    return anonymous();
  }
}

const NO_BODY = Buffer.alloc(0);
const BODILESS = new Set(["GET", "DELETE", "HEAD"]);

function readBody(request: Request, context: RequestContext, principal: Principal): Promise<Buffer> {
  if (BODILESS.has(request.method)) return Promise.resolve(NO_BODY);
  return readRequestBody(request, context, principal);
}

function requireManagementSize(body: Buffer): void {
  requireBodyBytes(body, BOUNDS.managementBodyBytes, "Send less at once.");
}

async function rejectOverLimit(
  principal: AnonymousPrincipal,
  { deps, headers }: RequestContext,
): Promise<AnonymousPrincipal> {
  const requests = (await peekLimits(principal, deps))?.requests ?? null;
  if (requests === null || requests.allowed) return principal;
  const isSmall = Number(headers.get("content-length") ?? Number.NaN) <= MAX_BYTES_OVER_LIMIT;
  return isSmall && requests.limit > 0 ? principal : rejectAnonymous(requests, requests);
}

/** Returns the status of a principal's rate limits without counting a request; null if no limit applies. */
export async function peekLimits(
  principal: InferencePrincipal,
  { generation, clock }: HttpDeps,
): Promise<RateLimitStatus | null> {
  const scopes = generation.settings.listLimits(principal, null);
  return scopes.length === 0 ? null : generation.rateLimiter.peek(scopes, clock.now());
}
