import { fail } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import type { HoldVerdict } from "../ledger/purse.ts";
import { findWorstCase } from "../ledger/worst-case.ts";
import type { Offer } from "../routing/roster.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";

/**
 * Holds what a request costs at worst, before an upstream is called (docs/contract.md, "Keys, money, limits"). Nothing is
 * held for what is free. A promise only where the account is not in memory.
 * @throws GatewayError `insufficient_credits`.
 */
export function takeHold(
  deps: GenerationDeps,
  { caller, request }: GenerationCall,
  id: string,
  offers: readonly Offer[],
): Promise<void> | null {
  if (caller.kind === "anonymous") return null;
  const amount = findWorstCase(request, offers, deps.holdTokens, deps.clock.now());
  if (amount === 0) return null;
  const hold = (): void => {
    const verdict = deps.ledger.hold(caller, id, amount);
    if (verdict.kind === "refused") refuse(verdict, deps.buyCreditsUrl);
  };
  const preparing = deps.ledger.prepare(caller);
  if (preparing !== null) return preparing.then(hold);
  hold();
  return null;
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
