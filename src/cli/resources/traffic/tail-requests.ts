import type { Command } from "commander";
import { formatDollars } from "../../../base/numbers/money.ts";
import { systemClock } from "../../../base/time/clock.ts";
import { formatTime } from "../../../base/time/time.ts";
import { ADMIN_KEY_ID } from "../../../core/accounts/records/principal.ts";
import {
  type FeedBatch,
  type FeedEntry,
  GenerationFeed,
} from "../../../core/usage/generations/generation-feed.ts";
import { outcomeOf, type UsageRecord } from "../../../core/usage/records/records.ts";
import { REJECTED, type Rejection } from "../../../core/usage/rejections/rejection.ts";
import { readStreamFilters, streamGenerations } from "../../../http/routes/traffic/generation-stream.ts";
import { type StoresCaller, withStoresCaller } from "../../callers/stores-caller.ts";
import { addOptions, readInput } from "../../endpoint/declare-command.ts";
import { deriveOptions } from "../../endpoint/derive-options.ts";
import { addExamples, readLimit } from "../../endpoint/read-options.ts";
import { print, printProblem } from "../../render/print.ts";
import { STREAM_OPTIONS } from "./generation-options.ts";

/** The options of the command besides those of the filter. */
interface TailOptions {
  readonly count?: number;
  readonly json?: true;
  readonly outcome?: string;
}

/** `gateway requests tail`: requests as they end, of all gateways on the stores. */
export function declareTailCommand(command: Command): void {
  command.option("--count <number>", "Stop after this many requests", readLimit);
  const spec = { endpoint: streamGenerations, options: STREAM_OPTIONS };
  const all = [...STREAM_OPTIONS, ...deriveOptions(spec)];
  addOptions(command, all);
  addExamples(command.option("--json", "Print a line of JSON for each request"), [
    "gateway requests tail --outcome failed",
    "gateway requests tail --json | jq .model",
  ]).action((options: TailOptions) =>
    withStoresCaller("gateway requests tail", async (caller) => {
      const given = { caller, args: [], options: { ...options } };
      const { input } = await readInput({ ...spec, options: all }, given);
      await caller.loadModels();
      const operator = { kind: "operator", keyId: ADMIN_KEY_ID } as const;
      const query = streamGenerations.query.parse(input.query);
      return tailRequests(caller, readStreamFilters(query, operator, caller.deps.generation), options);
    }),
  );
}

/** How often the process checks whether it should continue, which also keeps it running. Milliseconds. */
const HOLD_MS = 60_000;

/** Prints requests as they end, until the process is interrupted or `count` are printed. Rejects with a `StoreError`. */
async function tailRequests(
  {
    deps: {
      reports: { usage, rejections },
      resources: { keyStores },
    },
  }: StoresCaller,
  filters: ReturnType<typeof readStreamFilters>,
  options: TailOptions,
): Promise<string> {
  const over = Promise.withResolvers<void>();
  const feed = new GenerationFeed({
    clock: systemClock,
    usage,
    rejections,
    names: keyStores,
    onSuccess() {},
    onFailure: (error) => printProblem(`The store cannot be read: ${String(error)}`),
  });
  let left = options.count ?? Number.POSITIVE_INFINITY;
  const onBatch = ({ entries, dropped }: FeedBatch): boolean => {
    if (dropped > 0) printProblem(`${dropped} more requests are not shown.`);
    const shown = entries.filter((entry) => isShown(entry, options)).slice(0, left);
    for (const entry of shown) print(options.json ? entry.json : printEntry(entry));
    left -= shown.length;
    if (left === 0) over.resolve();
    return true;
  };
  const hold = setInterval(() => {}, HOLD_MS);
  try {
    await feed.subscribe({ owner: null, ...filters, onBatch, onClose() {} }, null);
    printProblem("Waiting for requests. Press Ctrl-C to stop.");
    await over.promise;
  } finally {
    clearInterval(hold);
    feed.close();
  }
  return "";
}

/** Requests that are still open are shown only if they are asked for. */
function isShown(entry: FeedEntry, options: TailOptions): boolean {
  return entry.kind === "rejection" || entry.record.outcome !== "open" || options.outcome === "open";
}

function printEntry(entry: FeedEntry): string {
  return entry.kind === "rejection" ? printRejection(entry.rejection) : printRecord(entry.record);
}

function printRejection({ id, at, status, code, model, path, count, message }: Rejection): string {
  return [
    formatTime(at).slice(0, 19),
    REJECTED.padEnd(11),
    model ?? path ?? "-",
    `${status} ${code}`,
    ...(count > 1 ? [`${count} requests`] : []),
    ...(message === null ? [] : [message]),
    id,
  ].join("  ");
}

function printRecord(record: UsageRecord): string {
  const { createdAt, finishedAt, firstTokenAt } = record;
  const since = (ms: number | null) => (ms === null ? "-" : `${ms - createdAt} ms`);
  return [
    formatTime(createdAt).slice(0, 19),
    outcomeOf(record).padEnd(11),
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
