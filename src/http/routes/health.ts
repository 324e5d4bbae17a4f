import { fail } from "../../base/errors.ts";
import type { RequestContext } from "../context/context.ts";

/** `GET /healthz`: the process runs. */
export function getHealth(): Response {
  return Response.json({ status: "ok" });
}

/** `GET /readyz`: it can serve. 503 while it drains or cannot write its records. */
export function getReadiness(_request: Request, { deps }: RequestContext): Response {
  const problem = deps.notReady();
  return problem === null
    ? Response.json({ status: "ready" })
    : fail("unavailable", problem, { retryAfterS: 5 });
}
