import { fail } from "../../../base/failures/errors.ts";
import type { RequestContext } from "../../context/context.ts";

/** `GET /healthz`: liveness. Always 200 while the process runs. */
export function getHealth(): Response {
  return Response.json({ status: "ok" });
}

/** `GET /readyz`: readiness. 503 while the gateway drains or can answer no requests; `degraded` with its problems while it can answer most. */
export function getReadiness(_request: Request, { deps }: RequestContext): Response {
  const { isReady, problems } = deps.readiness();
  if (!isReady) return fail("unavailable", problems.join(" "), { retryAfterS: 5 });
  return Response.json(problems.length === 0 ? { status: "ready" } : { status: "degraded", problems });
}
