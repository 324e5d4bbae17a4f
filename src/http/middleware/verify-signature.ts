import { timingSafeEqual } from "node:crypto";
import { fail } from "../../base/failures/errors.ts";
import type { SignedWebhookPrincipal } from "../../core/accounts/records/principal.ts";
import type { HttpDeps } from "../context/context.ts";

const SIGNATURE_HEADER = "x-gateway-signature";
/** The largest difference between a signature's time and the gateway's clock. Seconds. */
const TOLERANCE_S = 300;
/** Signatures that are compared. A sender that rotates its secret sends two. */
const MAX_SIGNATURES = 10;

/**
 * Verifies the signature of a body: `x-gateway-signature: t=<unix seconds>,v1=<HMAC-SHA256 of "t.body", hex>`, with one or
 * more `v1`.
 * @throws GatewayError `not_found` if no webhook secret is configured, `authentication` if no signature is valid.
 */
export function verifySignature(
  headers: Headers,
  body: Buffer,
  { webhookSecret, clock }: Pick<HttpDeps, "webhookSecret" | "clock">,
): SignedWebhookPrincipal {
  if (webhookSecret === null)
    return fail(
      "not_found",
      "The payment webhook is not enabled. The operator enables it with billing.webhook_secret.",
    );
  const { time, signatures } = readSignature(headers.get(SIGNATURE_HEADER) ?? "");
  const isTimely = time !== null && Math.abs(clock.now() / 1000 - Number(time)) <= TOLERANCE_S;
  const expected = new Bun.CryptoHasher("sha256", webhookSecret).update(`${time}.`).update(body).digest();
  const isMatch = signatures.some(
    (signature) => signature.length === expected.length && timingSafeEqual(signature, expected),
  );
  if (isTimely && isMatch) return { kind: "webhook" };
  return fail(
    "authentication",
    `The ${SIGNATURE_HEADER} header is missing, older than five minutes, or not signed with this gateway's webhook secret. Send t=<unix seconds>,v1=<HMAC-SHA256 of "t.body" in hex>.`,
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
