import type { Stores } from "../../app/stores.ts";
import { systemClock } from "../../base/clock.ts";
import { formatDollars } from "../../base/money.ts";
import { formatTime } from "../../base/time.ts";
import { type FeedBatch, type FeedEntry, GenerationFeed } from "../../core/usage/generation-feed.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import type { JsonOption } from "../endpoint/read-options.ts";
import { print, printProblem } from "../render/print.ts";
import { type FilterOptions, filterOf } from "./generation-options.ts";

/** The options of `gateway requests tail`. */
export interface TailOptions extends FilterOptions, JsonOption {
  readonly count?: number;
}

/** How often the process looks whether it should go on, which keeps it running. Milliseconds. */
const HOLD_MS = 60_000;

/**
 * Prints requests as they end, until the process is interrupted or `count` are printed. Reads the store, so that it shows the requests of
 * all gateways on it. Rejects with a `StoreError`, and if the options name no account, key or user.
 */
export async function tailRequests(stores: Stores, options: TailOptions): Promise<string> {
  const { usage, keys, accounts } = stores;
  const filter = await filterOf(stores, options);
  const over = Promise.withResolvers<void>();
  const feed = new GenerationFeed({
    clock: systemClock,
    usage,
    names: { keys, accounts },
    onSuccess() {},
    onFailure: (error) => printProblem(`The store cannot be read: ${String(error)}`),
  });
  let left = options.count ?? Number.POSITIVE_INFINITY;
  const onBatch = ({ entries, dropped }: FeedBatch): boolean => {
    if (dropped > 0) printProblem(`${dropped} more requests are not shown.`);
    const shown = entries.filter(({ record }) => isShown(record, options)).slice(0, left);
    for (const entry of shown) print(options.json ? entry.json : printEntry(entry));
    left -= shown.length;
    if (left === 0) over.resolve();
    return true;
  };
  const hold = setInterval(() => {}, HOLD_MS);
  try {
    await feed.subscribe({ owner: null, filter, onBatch, onClose() {} }, null);
    printProblem("Waiting for requests. Press Ctrl-C to stop.");
    await over.promise;
  } finally {
    clearInterval(hold);
    feed.close();
  }
  return "";
}

/** Requests that are still open are shown only if they are asked for. */
function isShown({ outcome }: UsageRecord, options: TailOptions): boolean {
  return outcome !== "open" || options.outcome === "open";
}

function printEntry({ record }: FeedEntry): string {
  const { createdAt, finishedAt, firstTokenAt } = record;
  const since = (ms: number | null) => (ms === null ? "-" : `${ms - createdAt} ms`);
  return [
    formatTime(createdAt).slice(0, 19),
    record.outcome.padEnd(11),
    record.model ?? record.requestedModel,
    record.provider ?? "-",
    `first token ${since(firstTokenAt)}`,
    `total ${since(finishedAt)}`,
    `${record.promptTokens}+${record.completionTokens} tokens`,
    `${formatDollars(record.costNanodollars)} dollars`,
    ...(record.error === null ? [] : [record.error]),
    record.id,
  ].join("  ");
}
