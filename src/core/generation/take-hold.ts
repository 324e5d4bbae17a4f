import { fail } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import type { HoldVerdict } from "../ledger/purse.ts";
import { findWorstCase } from "../ledger/worst-case.ts";
import type { Candidate } from "../routing/plan.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";

/**
 * Holds what a request costs at worst, before an upstream is called (docs/contract.md, "Keys, money, limits"), and gives the
 * candidates that it is held for. Nothing is held for what is free or served with the account's own keys; where the
 * money does not suffice for others, those remain. A promise only where the account is not in memory.
 * @throws GatewayError `insufficient_credits` where nobody remains.
 */
export function takeHold(
  deps: GenerationDeps,
  { caller, request }: GenerationCall,
  { id, requestedAt }: { readonly id: string; readonly requestedAt: number },
  candidates: readonly Candidate[],
): readonly Candidate[] | Promise<readonly Candidate[]> {
  if (caller.kind === "anonymous") return candidates;
  const own = candidates.filter(({ key }) => key.ownId !== null);
  const house = own.length === 0 ? candidates : candidates.filter(({ key }) => key.ownId === null);
  const amount = findWorstCase(request, house, deps.holdBounds, requestedAt);
  if (amount === 0) return candidates;
  const hold = (): HoldVerdict | null => deps.ledger.hold(caller, { id, amount, requestedAt });
  const decide = (verdict: HoldVerdict): readonly Candidate[] => {
    if (verdict.kind === "held") return candidates;
    return own.length > 0 ? own : refuse(verdict, deps.buyCreditsUrl);
  };
  const verdict = hold();
  if (verdict !== null) return decide(verdict);
  return deps.ledger.prepare(caller, requestedAt).then(() => decide(hold() ?? failUnprepared()));
}

function failUnprepared(): never {
  throw new Error("what a hold depends on was loaded, and is not there");
}

const WHOSE = {
  account: "The account's balance",
  key: "What is left of the key's spending limit",
  member: "What is left of the member's daily limit",
  organization: "What is left of the organization's monthly limit",
} as const;

function refuse(
  { by, available, required }: Extract<HoldVerdict, { kind: "refused" }>,
  buyCreditsUrl: string | null,
): never {
  const [balance, needed] = [toDollars(available), toDollars(required)];
  return fail(
    "insufficient_credits",
    `${WHOSE[by]}, $${balance.toFixed(6)}, does not cover this request, which may cost $${needed.toFixed(6)}. ${REMEDY[by]} or lower max_tokens.`,
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

const REMEDY = {
  account: "Add credits,",
  key: "Use another key, raise the limit,",
  member: "Ask an owner to raise it,",
  organization: "Ask an owner to raise it,",
} as const;
