import type { RelayFinish } from "../../../wire/canonical/answer/relay.ts";
import { CLIENT_APIS } from "../../../wire/client-apis/client-apis.ts";
import type { ClientApi } from "../../../wire/client-apis/request/inference-request.ts";
import type { TokenUsage } from "../../../wire/conversation/usage.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { HoldBound } from "../../ledger/holds/hold-book.ts";
import { nameBound } from "../hold/allowance.ts";
import type { Answering } from "./charge-answer.ts";

/**
 * Returns a warning if an answer was truncated at a token limit that the gateway set because the account covers no more; otherwise none.
 */
export function warnTruncated(
  { call, candidate, allowance }: Pick<Answering, "call" | "candidate" | "allowance">,
  finish: RelayFinish | null,
  { completionTokens, estimated }: TokenUsage,
): readonly Warning[] {
  const bound = finish?.client === "length" ? allowance.boundFor(candidate) : null;
  if (bound === null) return NONE;
  // A vendor may also end an answer at its own limit.
  const isReached = estimated || completionTokens >= REACHED_SHARE * bound;
  return isReached ? [describeTruncation(call.request.api, allowance.by)] : NONE;
}

const NONE: readonly Warning[] = [];

/** The share of the limit that counts as reached. Some vendors stop slightly before it. */
const REACHED_SHARE = 0.9;

/** The warning for an answer that ended because the account covers no more. */
export function describeTruncation(api: ClientApi, by: HoldBound): Warning {
  return {
    field: CLIENT_APIS[api].parameters.max_tokens?.field ?? "max_tokens",
    message: `The answer ends here because ${nameBound(by)}, minus what is held for requests in progress, does not cover more.`,
  };
}
