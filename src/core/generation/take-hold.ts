import { fail } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import type { HoldBound, HoldVerdict } from "../ledger/hold-book.ts";
import { boundCost, type DeploymentCost, joinCosts } from "../ledger/worst-case.ts";
import type { Candidate } from "../routing/plan.ts";
import { type Allowance, createAllowance, NO_HOLD } from "./allowance.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { nameBound } from "./warn-of-bound.ts";

/** Candidates that may be asked, and what they may cost. */
export interface Held {
  readonly candidates: readonly Candidate[];
  readonly allowance: Allowance;
}

/**
 * Holds money for a request before an upstream is called (docs/contract.md, "Keys, money, limits"), and gives the
 * candidates that it is held for. Nothing is held for what is free or served with the account's own keys; where the
 * money does not suffice for others, those remain. A promise only where the account is not in memory.
 * @throws GatewayError `insufficient_credits` where nobody remains.
 */
export function takeHold(
  deps: GenerationDeps,
  { principal, request }: GenerationCall,
  { id, requestedAt }: { readonly id: string; readonly requestedAt: number },
  candidates: readonly Candidate[],
): Held | Promise<Held> {
  const free: Held = { candidates, allowance: NO_HOLD };
  if (principal.kind === "anonymous") return free;
  const costs = new Map<Candidate, DeploymentCost>();
  const prices = { bounds: deps.holdBounds, catalog: deps.serving().catalog, now: requestedAt };
  for (const candidate of candidates) {
    const cost = candidate.key.byokId === null ? boundCost(request, candidate, prices) : null;
    if (cost !== null) costs.set(candidate, cost);
  }
  if (costs.size === 0) return free;
  const { least, expected, most } = joinCosts([...costs.values()]);
  const hold = (): HoldVerdict | null =>
    deps.ledger.hold(principal, { id, amount: expected, least, most, requestedAt });
  const decide = (verdict: HoldVerdict): Held => {
    if (verdict.kind === "held")
      return { candidates, allowance: createAllowance(deps.ledger, { id, request, costs }, verdict) };
    const own = candidates.filter((candidate) => !costs.has(candidate) && candidate.key.byokId !== null);
    return own.length > 0 ? { candidates: own, allowance: NO_HOLD } : refuse(verdict, deps.buyCreditsUrl);
  };
  const verdict = hold();
  if (verdict !== null) return decide(verdict);
  return deps.ledger.prepare(principal, requestedAt).then(() => decide(hold() ?? failUnprepared()));
}

function failUnprepared(): never {
  throw new Error("what a hold depends on was loaded, and is not there");
}

function refuse(
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
