import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import { mayReason } from "../../catalog/records/may-reason.ts";
import type { Ledger } from "../../ledger/credits/ledger.ts";
import type { HoldBound, HoldVerdict } from "../../ledger/holds/hold-book.ts";
import { boundPrompt, type DeploymentCost } from "../../ledger/holds/worst-case.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { boundByBytes } from "../../routing/plan/prompt-tokens.ts";

/** The money of its account that a generation may spend (docs/adr/0009-holds-that-grow.md). */
export interface Allowance {
  /** The amount that is held for it, in nanodollars; null if nothing is held. */
  readonly held: number | null;
  /** The balance, budget or limit that bounds the hold. */
  readonly by: TakenHold["by"];
  /** The leases of money that the cost is charged to; absent: none. */
  readonly leasedFrom?: readonly string[] | undefined;
  /** Returns the maximum tokens to request for each answer of a candidate; null if the hold sets no maximum. */
  boundFor(candidate: Candidate): number | null;
  /** Returns the tokens of answers that the hold covers at a candidate; infinite if it covers the longest answers. */
  tokensHeldFor(candidate: Candidate): number;
  /** Raises the hold to cover `tokens` of answers at a candidate, or as many as possible, and returns how many it covers. */
  growTo(candidate: Candidate, tokens: number): number;
  /** Like `growTo`, but waits a short time for money that must be leased first. */
  growSoonTo(candidate: Candidate, tokens: number): Promise<number>;
  /** Raises the hold to a cost, or as far as possible, and returns the covered part of the cost. Nanodollars. */
  cover(cost: number): number;
  /** Raises the hold like `cover`, but waits a short time for money that must be leased first. */
  coverSoon(cost: number): Promise<void>;
}

type TakenHold = Extract<HoldVerdict, { kind: "held" }>;

/** The allowance of a generation for which nothing is held: it is free, anonymous, or uses a BYOK key. */
export const NO_HOLD: Allowance = {
  held: null,
  by: "account",
  boundFor: () => null,
  tokensHeldFor: () => Number.POSITIVE_INFINITY,
  growTo: () => Number.POSITIVE_INFINITY,
  growSoonTo: async () => Number.POSITIVE_INFINITY,
  cover: (cost) => cost,
  coverSoon: async () => {},
};

/** The request that a hold is for. */
interface HeldRequest {
  readonly id: string;
  readonly request: Pick<InferenceRequest, "maxTokens" | "answers" | "stream" | "prompt">;
  readonly candidates: readonly Candidate[];
  /** The maximum costs of the candidates, in their order; null for candidates that need no hold. */
  readonly costs: readonly (DeploymentCost | null)[];
}

/** The allowance of a request for which an amount is held. */
export class HeldAllowance implements Allowance {
  private amount: number;
  /** The token limit of each candidate. It does not change after the candidate's first attempt. */
  private readonly bounds: (number | null | undefined)[] = [];

  constructor(
    private readonly ledger: Pick<Ledger, "grow" | "growSoon">,
    private readonly target: HeldRequest,
    private readonly hold: TakenHold,
  ) {
    this.amount = hold.amount;
  }

  get held(): number {
    return this.amount;
  }

  get by(): TakenHold["by"] {
    return this.hold.by;
  }

  get leasedFrom(): readonly string[] | undefined {
    return this.hold.leasedFrom;
  }

  boundFor(candidate: Candidate): number | null {
    const at = this.target.candidates.indexOf(candidate);
    const cost = this.target.costs[at] ?? null;
    if (cost === null) return null;
    let bound = this.bounds[at];
    if (bound === undefined) {
      bound = this.findBound(candidate, cost);
      this.bounds[at] = bound;
    }
    return bound;
  }

  tokensHeldFor(candidate: Candidate): number {
    const cost = this.costOf(candidate);
    if (cost === null) return Number.POSITIVE_INFINITY;
    const { most } = cost.tokens;
    const tokens = cost.cost.tokensWithin(this.amount, most);
    return tokens >= most ? Number.POSITIVE_INFINITY : tokens;
  }

  growTo(candidate: Candidate, tokens: number): number {
    const cost = this.costOf(candidate);
    if (cost !== null) this.grow(cost.cost.at(Math.min(tokens, cost.tokens.most)));
    return this.tokensHeldFor(candidate);
  }

  async growSoonTo(candidate: Candidate, tokens: number): Promise<number> {
    const cost = this.costOf(candidate);
    if (cost !== null) await this.growSoon(cost.cost.at(Math.min(tokens, cost.tokens.most)));
    return this.tokensHeldFor(candidate);
  }

  private costOf(candidate: Candidate): DeploymentCost | null {
    return this.target.costs[this.target.candidates.indexOf(candidate)] ?? null;
  }

  coverSoon(cost: number): Promise<void> {
    return this.growSoon(cost);
  }

  cover(cost: number): number {
    return Math.min(cost, this.grow(cost));
  }

  private grow(amount: number): number {
    if (amount > this.amount) this.amount = this.ledger.grow(this.target.id, amount);
    return this.amount;
  }

  private async growSoon(amount: number): Promise<void> {
    if (amount > this.amount) this.amount = await this.ledger.growSoon(this.target.id, amount);
  }

  /** Returns the token limit of a candidate; null if the hold covers the longest answers, so that the request needs no limit. */
  private findBound(candidate: Candidate, cost: DeploymentCost): number | null {
    const { request } = this.target;
    const canGrow = !mayHideTokens(candidate, request.stream);
    const { most, expected } = cost.tokens;
    const amount = canGrow ? Math.max(this.amount, this.hold.available) : this.amount;
    const tokens = cost.cost.tokensWithin(amount, most);
    if (tokens >= most) return null;
    const { answers, prompt } = request;
    // Many hosts reject a bound that does not fit into the context window together with the prompt.
    const room =
      candidate.endpoint.contextLength -
      boundByBytes(prompt.textBytes) -
      boundPrompt({ textBytes: 0, hasSchemas: true });
    const fitting = Math.min(tokens / answers, Math.max(room, expected / answers));
    return Math.max(1, Math.floor(fitting));
  }
}

/**
 * Returns whether the gateway may see tokens only at the end of an answer, so that the hold cannot grow with them. That is so for
 * unstreamed answers, models that reason, and media.
 */
function mayHideTokens({ model }: Candidate, isStream: boolean): boolean {
  return !isStream || mayReason(model) || model.outputModalities.some((modality) => modality !== "text");
}

/** Returns a phrase that names what bounds a hold, for use in a sentence. */
export function nameBound(by: HoldBound): string {
  return BOUNDS[by];
}

const BOUNDS: Readonly<Record<HoldBound, string>> = {
  account: "the account's balance",
  key: "what is left of the key's spending limit",
  member: "what is left of the member's daily limit",
  organization: "what is left of the organization's monthly limit",
  budget: "what is left of a budget",
};
