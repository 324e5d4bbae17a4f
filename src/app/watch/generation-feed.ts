import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { GenerationFeed } from "../../core/usage/generations/generation-feed.ts";
import { createOutageLog } from "../stores/outage-log.ts";
import type { Stores } from "../stores/stores.ts";

/** Creates the feed of generations that are new or have changed, and of rejected requests. Failures of the store are logged once until it works again. */
export function createGenerationFeed(
  {
    usage,
    keys,
    accounts,
    teams,
    rejections,
  }: Pick<Stores, "usage" | "keys" | "accounts" | "teams" | "rejections">,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): GenerationFeed {
  const outage = createOutageLog({
    log,
    clock,
    failureEvent: "streams of generations cannot be continued, because the store is unavailable",
    recoveryEvent: "streams of generations are continued",
  });
  return new GenerationFeed({
    clock,
    usage,
    rejections: { list: (query) => rejections.listRejections(query) },
    names: { keys, accounts, teams },
    onSuccess: outage.succeeded,
    onFailure: outage.failed,
  });
}
