import type { Command } from "commander";
import type { Stores } from "../../app/stores.ts";
import { systemClock } from "../../base/clock.ts";
import { formatDollars } from "../../base/money.ts";
import { formatTime } from "../../base/time.ts";
import { findNames } from "../../core/accounts/find-names.ts";
import { findTransfersOf, presentGenerationDetails } from "../../core/ledger/present-generation-details.ts";
import { presentGenerationLine } from "../../core/usage/present-generation.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import { withStores } from "../callers/with-stores.ts";
import {
  addExamples,
  addJsonOption,
  DEFAULT_LIMIT,
  type JsonOption,
  readLimit,
} from "../endpoint/read-options.ts";
import { formatFields, formatTable } from "../render/format-table.ts";
import {
  addFilterOptions,
  addRangeOptions,
  type FilterOptions,
  filterOf,
  type RangeOptions,
} from "./generation-options.ts";
import { type TailOptions, tailRequests } from "./tail-requests.ts";

interface ListOptions extends FilterOptions, RangeOptions, JsonOption {
  readonly limit: number;
}

/** `gateway requests`: the records of requests to models. */
export function declareRequestCommands(requests: Command): void {
  const list = requests
    .command("list")
    .description("List requests, newest first")
    .option("--limit <number>", "Maximum number of rows", readLimit, DEFAULT_LIMIT);
  addExamples(addJsonOption(addRangeOptions(addFilterOptions(list))), [
    "gateway requests list --outcome failed --provider openai",
    "gateway requests list --from 2027-01-31 --key ci",
  ]).action((options: ListOptions) => withStores((stores) => listRequests(stores, options)));
  const tail = requests
    .command("tail")
    .description("Print requests as they end, until Ctrl-C")
    .option("--count <number>", "Stop after this many requests", readLimit);
  addExamples(addFilterOptions(tail).option("--json", "Print a line of JSON for each request"), [
    "gateway requests tail --outcome failed",
    "gateway requests tail --json | jq .model",
  ]).action((options: TailOptions) => withStores((stores) => tailRequests(stores, options)));
  addJsonOption(
    requests
      .command("show")
      .description("Show a request: its route, attempts, cost and ledger entries")
      .argument("<id>", "ID of the generation, gen_…, or of the request, req_…"),
  ).action((id: string, options: JsonOption) => withStores((stores) => showRequest(stores, id, options)));
}

async function listRequests(stores: Stores, options: ListOptions): Promise<string> {
  const records = await readRecords(stores, options);
  if (options.json) {
    const names = await findNames(stores, records);
    return JSON.stringify({ data: records.map((record) => presentGenerationLine(record, names)) });
  }
  if (records.length === 0) return "No requests.";
  const rows = records.map((record) => [
    record.id,
    formatTime(record.createdAt).slice(0, 19),
    record.model ?? record.requestedModel,
    record.outcome,
    String(record.promptTokens),
    String(record.completionTokens),
    formatDollars(record.costNanodollars),
  ]);
  return formatTable(
    ["generation", "created", "model", "outcome", "prompt tokens", "completion tokens", "dollars"],
    rows,
  );
}

/** Reads pages up to the limit: a page may be short although more follow. */
async function readRecords(stores: Stores, options: ListOptions): Promise<readonly UsageRecord[]> {
  const filter = await filterOf(stores, options);
  const { limit } = options;
  const records: UsageRecord[] = [];
  let before: string | null = null;
  do {
    const page = await stores.usage.listGenerations({ ...filter, before, limit: limit - records.length });
    records.push(...page.records);
    before = page.next;
  } while (before !== null && records.length < limit);
  return records;
}

async function showRequest(stores: Stores, id: string, { json }: JsonOption): Promise<string> {
  const { usage, ledger, promptLog } = stores;
  const record = id.startsWith("req_") ? await usage.findByRequest(id) : await usage.findUsage(id);
  if (record === null) throw new Error(`No request or generation has the ID ${id}.`);
  const data = presentGenerationDetails(record, {
    names: await findNames(stores, [record]),
    transfers: await findTransfersOf(ledger, record.id),
    hasBodies: await promptLog.hasEntry(record.id, systemClock.now()),
    isForOperator: true,
  });
  return json ? JSON.stringify({ data }) : formatFields(data);
}
