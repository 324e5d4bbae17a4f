import type { RelayFinish } from "../../wire/canonical/relay.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import type { HoldBound } from "../ledger/hold-book.ts";
import type { Answering } from "./charge-answer.ts";

/** Returns a warning if an answer ended at a bound that the gateway set because the account covers no more; else none. */
export function warnOfBound(
  { call, candidate, allowance }: Pick<Answering, "call" | "candidate" | "allowance">,
  finish: RelayFinish | null,
  { completionTokens, estimated }: TokenUsage,
): readonly Warning[] {
  const bound = finish?.client === "length" ? allowance.boundFor(candidate) : null;
  if (bound === null) return NONE;
  // A vendor may also end an answer at a bound of its own.
  const isReached = estimated || completionTokens >= REACHED_SHARE * bound;
  return isReached ? [describeBound(call.request.api, allowance.by)] : NONE;
}

const NONE: readonly Warning[] = [];

/** Some vendors stop slightly before the bound. */
const REACHED_SHARE = 0.9;

/** The warning for an answer that ended because the account covers no more. */
export function describeBound(api: string, by: HoldBound): Warning {
  return {
    field: api === "responses" ? "max_output_tokens" : "max_tokens",
    message: `The answer ends here because ${nameBound(by)}, minus what is held for requests in progress, does not cover more.`,
  };
}

/** Names what bounds a hold, for use within a sentence. */
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
