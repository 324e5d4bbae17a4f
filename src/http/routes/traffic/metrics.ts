import { timingSafeEqual } from "node:crypto";
import { fail } from "../../../base/failures/errors.ts";
import { hashSecret } from "../../../core/accounts/records/secrets.ts";
import type { RequestContext } from "../../context/context.ts";
import type { MetricsDeps } from "../../context/metrics-deps.ts";
import { admit } from "../../middleware/admit.ts";

/**
 * `GET /metrics`: the metrics in Prometheus' text format, for a management key of the operator, the configured token, and the allowed
 * addresses. Other callers do not get them, because costs by provider are business data.
 */
export async function getMetrics(request: Request, context: RequestContext): Promise<Response> {
  const {
    observers: { metrics },
  } = context.deps;
  if (metrics === null) return fail("not_found", "Metrics are disabled (metrics.enabled).");
  if (!hasToken(request.headers, metrics) && !isAllowed(request.headers, context, metrics))
    await admit(request, context, { kind: "operator" });
  const { text, mediaType } = await metrics.print();
  return new Response(text, { headers: { "content-type": mediaType, "cache-control": "no-store" } });
}

function hasToken(headers: Headers, { tokenHash }: MetricsDeps): boolean {
  const [, token] = /^bearer\s+(\S+)\s*$/i.exec(headers.get("authorization") ?? "") ?? [];
  if (tokenHash === null || token === undefined) return false;
  return timingSafeEqual(Buffer.from(hashSecret(token)), Buffer.from(tokenHash));
}

/** The headers with which a proxy names the client of a request. */
const FORWARDED = ["x-forwarded-for", "forwarded", "x-real-ip", "via"];

/**
 * Whether a request may read metrics by its address. A proxy's address says nothing about its client, so a request with a client's address
 * in its headers is not allowed by address.
 */
function isAllowed(headers: Headers, context: RequestContext, { allowed }: MetricsDeps): boolean {
  return !FORWARDED.some((name) => headers.has(name)) && allowed.has(context.peer());
}
