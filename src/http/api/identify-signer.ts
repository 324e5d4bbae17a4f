import { timingSafeEqual } from "node:crypto";
import { fail } from "../../base/errors.ts";
import { DEFAULT_ACCOUNT_ID } from "../../core/accounts/records.ts";
import type { HttpDeps } from "../context/context.ts";
import type { ApiPrincipal } from "./api-principal.ts";

const SIGNATURE_HEADER = "x-gateway-signature";
/** How old a signature may be, and how far ahead the other clock. Seconds. */
const TOLERANCE_S = 300;
/** Signatures that are looked at: during a change of secrets there are two. */
const MAX_SIGNATURES = 10;

/** Whoever knows the secret, as a caller of the API: what they sign is the operator's word. */
const SIGNER: ApiPrincipal = {
  key: {
    id: "key_webhook",
    kind: "management",
    accountId: DEFAULT_ACCOUNT_ID,
    userId: null,
    name: "billing.webhook_secret",
    hash: "",
    hint: "",
    spendLimit: null,
    models: null,
    rateLimit: null,
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  },
  isOperator: true,
  role: "owner",
  accountId: null,
};

/**
 * Whoever has signed a body: `x-gateway-signature: t=<unix seconds>,v1=<HMAC-SHA256 of "t.body", hex>`, as payment systems
 * do; several `v1` are allowed.
 * @throws GatewayError `not_found` where no secret is configured, `authentication` for any signature that is not right.
 */
export function identifySigner(
  headers: Headers,
  body: Buffer,
  { webhookSecret, clock }: Pick<HttpDeps, "webhookSecret" | "clock">,
): ApiPrincipal {
  if (webhookSecret === null)
    return fail(
      "not_found",
      "No payment system is set up here. Its operator can set billing.webhook_secret.",
    );
  const { time, signatures } = readSignature(headers.get(SIGNATURE_HEADER) ?? "");
  const isTimely = time !== null && Math.abs(clock.now() / 1000 - Number(time)) <= TOLERANCE_S;
  const expected = new Bun.CryptoHasher("sha256", webhookSecret).update(`${time}.`).update(body).digest();
  const isRight = signatures.some(
    (signature) => signature.length === expected.length && timingSafeEqual(signature, expected),
  );
  if (isTimely && isRight) return SIGNER;
  return fail(
    "authentication",
    `${SIGNATURE_HEADER} is missing, older than five minutes or not made with this gateway's secret. Send t=<unix seconds>,v1=<HMAC-SHA256 of "t.body" in hex>.`,
  );
}

function readSignature(header: string): { time: string | null; signatures: Buffer[] } {
  const parts = header.split(",").map((part) => part.trim());
  const time = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice(2) ?? null;
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/i.test(part))
    .slice(0, MAX_SIGNATURES)
    .map((part) => Buffer.from(part.slice(3), "hex"));
  return { time, signatures };
}
