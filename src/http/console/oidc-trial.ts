import type { EndedTrial, OidcTrialOutcome } from "../../core/console/oidc-trial-store.ts";
import type { RequestContext } from "../context/context.ts";
import { urlOf } from "../context/url-of.ts";
import { baseUrlOf, requireConsoleHost } from "../middleware/browser-checks.ts";
import { CALLBACK, readTrialCookie } from "../middleware/oidc-cookie.ts";
import { showPage } from "./console-page.ts";

/** Completes a trial sign-in, and shows its outcome. Returns null if the browser comes back from another sign-in. */
export async function completeTrial(request: Request, context: RequestContext): Promise<Response | null> {
  const { console } = context.deps.browser;
  const { pathname, search, searchParams } = urlOf(request);
  const state = readTrialCookie(request);
  if (console === null || state === null || searchParams.get("state") !== state) return null;
  requireConsoleHost(request, console);
  const currentUrl = new URL(baseUrlOf(request, context) + pathname + search);
  const ended = await console.trials.complete(state, currentUrl);
  if (ended === null)
    return showPage(403, "The trial sign-in has ended", [
      "It took too long, was completed already, or your console session has ended. Start it again in the console.",
    ]);
  await recordTrial(ended, context);
  return showOutcome(ended.outcome);
}

function showOutcome({ problem, rights, subject, claims }: OidcTrialOutcome): Response {
  if (problem !== null) {
    const seen = claims.map(
      ({ name, values, unknown }) =>
        `${name}: ${unknown ?? (values.length === 0 ? "none" : values.join(", "))}`,
    );
    return showPage(403, "The trial sign-in has failed", [
      problem.message,
      `Detail: ${problem.detail}`,
      ...(seen.length === 0 ? [] : [`The provider sent ${seen.join("; ")}.`]),
      "Nothing has changed. You can close this page, correct the settings in the console, and try again.",
    ]);
  }
  return showPage(200, "The trial sign-in has succeeded", [
    `The person ${subject} would be ${describeRights(rights)}.`,
    "Nothing has changed. You can close this page, and save the settings in the console within 15 minutes.",
  ]);
}

function describeRights(rights: OidcTrialOutcome["rights"]): string {
  if (rights === null || rights.isOperator) return "the operator";
  const roles = rights.organizations.map(describeOrganization).join(", ");
  return rights.userId === null ? `a new user: ${roles}` : `the user ${rights.userId}: ${roles}`;
}

type Organization = NonNullable<OidcTrialOutcome["rights"]>["organizations"][number];

function describeOrganization({ name, role, teams, unknownTeams }: Organization): string {
  const parts = [
    ...teams.map((team) => `${team.isLead ? "lead" : "member"} of the team ${team.name}`),
    ...unknownTeams.map((team) => `there is no team ${team}`),
  ];
  return `${role} of ${name}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}

/** Writes the audit entry of a trial that has ended. */
async function recordTrial(
  { id, keyId, outcome }: EndedTrial,
  { deps, requestId, logFields }: RequestContext,
): Promise<void> {
  if (outcome.problem !== null) logFields["detail"] = outcome.problem.detail;
  await deps.resources.audit.appendAudit({
    at: deps.clock.now(),
    keyId,
    userId: null,
    action: `GET ${CALLBACK}`,
    accountId: null,
    target: id,
    requestId,
    changes: { trial: outcome.problem === null ? "succeeded" : "failed" },
  });
}
