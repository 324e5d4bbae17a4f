import { fail } from "../../../base/failures/errors.ts";
import { printDollars, toDollars } from "../../../base/numbers/money.ts";
import { labelBudget } from "../../accounts/records/budget-records.ts";
import type { AccountPrincipal } from "../../accounts/records/principal.ts";
import type { Catalog } from "../../catalog/served/catalog.ts";
import type { HoldBound, HoldVerdict } from "../../ledger/holds/hold-book.ts";
import { boundCost, type DeploymentCost, joinCosts } from "../../ledger/holds/worst-case.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import { type Allowance, HeldAllowance, NO_HOLD, nameBound } from "./allowance.ts";

/** A request for money for a generation. */
export interface HoldOrder {
  /** The open record of the generation. */
  readonly record: UsageRecord;
  readonly candidates: readonly Candidate[];
  /** The catalog, which prices the models that the answering model may consult. */
  readonly catalog: Catalog;
}

/** The candidates that may be called, and the money held for them. */
export interface Held {
  readonly candidates: readonly Candidate[];
  readonly allowance: Allowance;
}

/**
 * Holds money for a request before an upstream is called (docs/api/money.md, "Holds"), and returns the candidates that the hold covers.
 * Free models, and BYOK keys without a fee, need no hold. If the balance is too low for the other candidates, only those with a BYOK key
 * remain. Rejects with a GatewayError `insufficient_credits` if no candidate remains.
 */
export async function takeHold(deps: GenerationDeps, call: GenerationCall, order: HoldOrder): Promise<Held> {
  const { record, candidates } = order;
  const { principal, request } = call;
  if (principal.kind === "anonymous") return { candidates, allowance: NO_HOLD };
  const costs = boundCosts(deps, request, order);
  if (costs.every((cost) => cost === null)) return { candidates, allowance: NO_HOLD };
  const verdict = await deps.ledger.hold(principal, record, joinCosts(costs), call.longestMs ?? null);
  if (verdict.kind === "held") {
    const target = { id: record.id, request, candidates, costs };
    return { candidates, allowance: new HeldAllowance(deps.ledger, target, verdict) };
  }
  const byok = candidates.filter(({ key }, at) => costs[at] === null && key.byokId !== null);
  return byok.length > 0
    ? { candidates: byok, allowance: NO_HOLD }
    : rejectUnaffordable(verdict, principal, deps.settings.buyCreditsUrl);
}

/** Returns the maximum cost of each candidate, in order; null for candidates that cost nothing. */
function boundCosts(
  { settings: { holdBounds } }: GenerationDeps,
  request: GenerationCall["request"],
  { candidates, record, catalog }: HoldOrder,
): readonly (DeploymentCost | null)[] {
  const prices = { bounds: holdBounds, catalog, now: record.createdAt };
  const costs: (DeploymentCost | null)[] = [];
  for (const candidate of candidates) {
    const isCharged = candidate.key.byokId === null || candidate.tariff !== undefined;
    costs.push(isCharged ? boundCost(request, candidate, prices) : null);
  }
  return costs;
}

function rejectUnaffordable(
  { by, budget, available, required }: Extract<HoldVerdict, { kind: "refused" }>,
  { team }: AccountPrincipal,
  buyCreditsUrl: string | null,
): never {
  const ofTeam = budget?.subject === "team" ? (team?.name ?? null) : null;
  return fail(
    "insufficient_credits",
    `This request needs at least ${printDollars(required)}, and ${budget === undefined ? nameBound(by) : `what is left of the ${labelBudget(budget.name, ofTeam)}`}, minus what is held for requests in progress, is ${printDollars(available)}. ${REMEDY[by]} or shorten the prompt.`,
    {
      metadata: {
        balance: toDollars(available),
        required: toDollars(required),
        limit_source: by,
        ...(budget === undefined ? {} : { budget: budget.id }),
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
  budget: "Wait for its next period, ask for a higher limit,",
};
