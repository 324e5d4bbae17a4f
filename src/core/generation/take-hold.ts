import { fail } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import type { HoldBound, HoldVerdict } from "../ledger/hold-book.ts";
import { boundCost, type DeploymentCost, joinCosts } from "../ledger/worst-case.ts";
import type { Candidate } from "../routing/plan.ts";
import { type Allowance, createAllowance, NO_HOLD } from "./allowance.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { nameBound } from "./warn-of-bound.ts";

/** The candidates that may be asked, and what they may cost. */
export interface Held {
  readonly candidates: readonly Candidate[];
  readonly allowance: Allowance;
}

/**
 * Holds money for a request before an upstream is called (docs/api/money.md, "Holds"), and returns the candidates that
 * it is held for. Free models and the account's own provider keys need no hold; if the money does not suffice for others, only
 * those that need none remain.
 * @throws GatewayError `insufficient_credits` if no candidate remains.
 */
export async function takeHold(
  deps: GenerationDeps,
  call: GenerationCall,
  { id, requestedAt }: { readonly id: string; readonly requestedAt: number },
  candidates: readonly Candidate[],
): Promise<Held> {
  const { principal, request } = call;
  if (principal.kind === "anonymous") return { candidates, allowance: NO_HOLD };
  const costs = boundCosts(deps, request, candidates, requestedAt);
  if (costs.size === 0) return { candidates, allowance: NO_HOLD };
  const { least, expected, most } = joinCosts([...costs.values()]);
  const verdict = await deps.ledger.hold(principal, { id, amount: expected, least, most, requestedAt });
  if (verdict.kind === "held")
    return { candidates, allowance: createAllowance(deps.ledger, { id, request, costs }, verdict) };
  const own = candidates.filter((candidate) => !costs.has(candidate) && candidate.key.byokId !== null);
  return own.length > 0
    ? { candidates: own, allowance: NO_HOLD }
    : rejectUnaffordable(verdict, deps.buyCreditsUrl);
}

/** Returns what each candidate may cost; those that cost nothing are left out. */
function boundCosts(
  { holdBounds, serving }: GenerationDeps,
  request: GenerationCall["request"],
  candidates: readonly Candidate[],
  now: number,
): ReadonlyMap<Candidate, DeploymentCost> {
  const costs = new Map<Candidate, DeploymentCost>();
  const prices = { bounds: holdBounds, catalog: serving().catalog, now };
  for (const candidate of candidates) {
    const cost = candidate.key.byokId === null ? boundCost(request, candidate, prices) : null;
    if (cost !== null) costs.set(candidate, cost);
  }
  return costs;
}

function rejectUnaffordable(
  { by, available, required }: Extract<HoldVerdict, { kind: "refused" }>,
  buyCreditsUrl: string | null,
): never {
  const [balance, needed] = [toDollars(available), toDollars(required)];
  return fail(
    "insufficient_credits",
    `This request needs at least $${needed.toFixed(6)}, and ${nameBound(by)}, less what is held for requests under way, is $${balance.toFixed(6)}. ${REMEDY[by]} or shorten the prompt.`,
    {
      metadata: {
        balance,
        required: needed,
        limit_source: by,
        ...(by === "account" && buyCreditsUrl !== null ? { buyCreditsUrl } : {}),
      },
    },
  );
}

const REMEDY: Readonly<Record<HoldBound, string>> = {
  account: "Add credits,",
  key: "Use another key, raise the limit,",
  member: "Ask an owner to raise it,",
  organization: "Ask an owner to raise it,",
};
