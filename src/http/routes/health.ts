import { fail } from "../../base/errors.ts";
import type { RequestContext } from "../context/context.ts";

/** `GET /healthz`: liveness. Always 200 while the process runs. */
export function getHealth(): Response {
  return Response.json({ status: "ok" });
}

/** `GET /readyz`: readiness. 503 while the gateway drains or cannot write its records. */
export function getReadiness(_request: Request, { deps }: RequestContext): Response {
  const problem = deps.notReady();
  return problem === null
    ? Response.json({ status: "ready" })
    : fail("unavailable", problem, { retryAfterS: 5 });
}
