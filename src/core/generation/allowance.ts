import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { mayReason } from "../catalog/may-reason.ts";
import type { HoldVerdict } from "../ledger/hold-book.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { boundPrompt, costOf, type DeploymentCost, tokensFor } from "../ledger/worst-case.ts";
import type { Candidate } from "../routing/plan.ts";
import { boundByBytes } from "../routing/prompt-tokens.ts";

/** What a generation may use of its account's money (docs/adr/0009-holds-that-grow.md). */
export interface Allowance {
  /** What is held for it, nanodollars; null where nothing is. */
  readonly held: number | null;
  /** Who bounds it, where anything does. */
  readonly by: HeldAmount["by"];
  /** The most tokens that a candidate is to be asked for, in each answer; null: as many as the client wants. */
  boundFor(candidate: Candidate): number | null;
  /** Tokens of answers that the hold covers when this candidate answers; infinite where it covers the longest. */
  tokensHeldFor(candidate: Candidate): number;
  /** Raises the hold until it covers so many tokens of answers, as far as what is left allows; gives how many it covers then. */
  growTo(candidate: Candidate, tokens: number): number;
  /** Raises the hold to a cost, as far as what is left allows; gives how much of it is covered. */
  cover(cost: number): number;
}

type HeldAmount = Extract<HoldVerdict, { kind: "held" }>;

/** Of a generation that costs its caller nothing, or that nobody pays for. */
export const NO_HOLD: Allowance = {
  held: null,
  by: "account",
  boundFor: () => null,
  tokensHeldFor: () => Number.POSITIVE_INFINITY,
  growTo: () => Number.POSITIVE_INFINITY,
  cover: (cost) => cost,
};

/** What a hold is for. */
export interface HeldRequest {
  readonly id: string;
  readonly request: Pick<InferenceRequest, "maxTokens" | "answers" | "stream" | "promptTextBytes">;
  /** What each candidate that the hold is for may cost; others cost nothing. */
  readonly costs: ReadonlyMap<Candidate, DeploymentCost>;
}

/** The allowance of a request for which an amount is held. */
export function createAllowance(
  ledger: Pick<Ledger, "grow">,
  { id, request, costs }: HeldRequest,
  verdict: HeldAmount,
): Allowance {
  let held = verdict.amount;
  const grow = (amount: number): number => {
    if (amount > held) held = ledger.grow(id, amount);
    return held;
  };
  const tokensOf = (candidate: Candidate): number => {
    const cost = costs.get(candidate);
    const tokens = cost === undefined ? Number.POSITIVE_INFINITY : tokensFor(held, cost);
    return tokens >= (cost?.tokens.most ?? 0) ? Number.POSITIVE_INFINITY : tokens;
  };
  const findBound = (candidate: Candidate): number | null => {
    const cost = costs.get(candidate);
    if (cost === undefined) return null;
    const amount = mayHideTokens(candidate, request.stream) ? held : Math.max(held, verdict.available);
    return boundAnswer(request, candidate, cost, tokensFor(amount, cost));
  };
  /** A bound stays as it was when the candidate was asked. */
  const bounds = new Map<Candidate, number | null>();
  return {
    get held() {
      return held;
    },
    by: verdict.by,
    boundFor(candidate) {
      const known = bounds.get(candidate);
      if (known !== undefined) return known;
      const bound = findBound(candidate);
      bounds.set(candidate, bound);
      return bound;
    },
    tokensHeldFor: tokensOf,
    growTo(candidate, tokens) {
      const cost = costs.get(candidate);
      if (cost !== undefined) grow(costOf(cost.cost, Math.min(tokens, cost.tokens.most)));
      return tokensOf(candidate);
    },
    cover: (cost) => Math.min(cost, grow(cost)),
  };
}

/**
 * Whether tokens may be produced that are seen at the end alone, so that a hold cannot grow with them: in an answer that is not
 * streamed, by a model that reasons, and in media.
 */
function mayHideTokens({ model }: Candidate, isStream: boolean): boolean {
  return !isStream || mayReason(model) || model.outputModalities.some((modality) => modality !== "text");
}

/** Null where `tokens` are as many as the answers can have, so that nothing need be said. */
function boundAnswer(
  { answers, promptTextBytes }: HeldRequest["request"],
  { endpoint }: Candidate,
  { tokens: range }: DeploymentCost,
  tokens: number,
): number | null {
  if (tokens >= range.most) return null;
  // Many hosts refuse a bound that does not fit into the window together with the prompt.
  const room = endpoint.contextLength - boundByBytes(promptTextBytes) - boundPrompt({ promptTextBytes: 0 });
  const fitting = Math.min(tokens / answers, Math.max(room, range.expected / answers));
  return Math.max(1, Math.floor(fitting));
}
