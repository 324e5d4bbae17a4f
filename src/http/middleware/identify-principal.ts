import { type Failure, fail } from "../../base/errors.ts";
import { findPayer } from "../../core/accounts/find-payer.ts";
import type { KeyRecord, Principal } from "../../core/accounts/records.ts";
import { findClientAddress, limitKeyOf } from "../../core/limits/client-address.ts";
import type { RequestContext } from "../context/context.ts";

const WRONG_KEY: Pick<Failure, "code" | "message"> = {
  code: "authentication",
  message:
    "The API key is not valid: unknown, revoked or expired. Send a valid one, or none for a free model.",
};

/**
 * Who calls an inference endpoint. A key that is not valid is refused even where none is needed.
 * @throws GatewayError `authentication`; `permission_denied` for a management key.
 */
export function identifyPrincipal(request: Request, context: RequestContext): Principal | Promise<Principal> {
  const secret = readSecret(request.headers);
  if (secret === null) return { kind: "anonymous", addressHash: hashAddress(request, context) };
  const found = context.deps.keyCache.identify(secret);
  const organization = request.headers.get("x-gateway-organization");
  // A key that is remembered costs no turn of the event loop.
  return found instanceof Promise
    ? found.then((key) => admitKey(key, organization, context))
    : admitKey(found, organization, context);
}

function admitKey(
  key: KeyRecord | null,
  organization: string | null,
  context: RequestContext,
): Principal | Promise<Principal> {
  if (key === null) return fail(WRONG_KEY.code, WRONG_KEY.message);
  if (key.kind === "management") {
    fail("permission_denied", "A management key cannot call models. Create an inference key and send that.");
  }
  context.logFields["key_id"] = key.id;
  return findPayer(context.deps.accountCache, key, organization);
}

/**
 * The key of a caller of an endpoint that needs one.
 * @throws GatewayError `authentication`, `permission_denied`.
 */
export async function requireKey(
  request: Request,
  context: RequestContext,
  kind: KeyRecord["kind"],
): Promise<KeyRecord> {
  const secret = readSecret(request.headers);
  if (secret === null)
    return fail("authentication", `Send a key of kind ${kind}: "Authorization: Bearer …".`);
  const key = (await context.deps.keyCache.identify(secret)) ?? fail(WRONG_KEY.code, WRONG_KEY.message);
  if (key.kind !== kind)
    fail("permission_denied", `This needs a key of kind ${kind}; the key sent is of kind ${key.kind}.`);
  context.logFields["key_id"] = key.id;
  return key;
}

/** The secret in `Authorization` or `x-api-key`. None, an empty one and the word `anonymous` are null. */
function readSecret(headers: Headers): string | null {
  const authorization = headers.get("authorization")?.trim() ?? "";
  // The usual form, without the detour of a pattern.
  if (authorization.startsWith("Bearer gw_")) return authorization.slice("Bearer ".length);
  if (authorization !== "") {
    const bearer = /^bearer(?:\s+(.*))?$/i.exec(authorization);
    if (bearer === null) fail(WRONG_KEY.code, 'Authorization must be "Bearer <key>".');
    const secret = bearer[1]?.trim() ?? "";
    if (!isNone(secret)) return secret;
  }
  const apiKey = headers.get("x-api-key")?.trim() ?? "";
  return isNone(apiKey) ? null : apiKey;
}

function isNone(secret: string): boolean {
  return secret === "" || secret.toLowerCase() === "anonymous";
}

/** A keyed hash of what a caller without a key is counted by: an address, or an IPv6 /64. */
export function hashAddress(request: Request, { deps, peer }: RequestContext): string {
  const address = findClientAddress(peer(), request.headers.get("x-forwarded-for"), deps.trustedProxies);
  return new Bun.CryptoHasher("sha256", deps.addressSalt)
    .update(limitKeyOf(address))
    .digest("hex")
    .slice(0, 32);
}
