import { type Command, Option } from "commander";
import type { Stores } from "../app/stores.ts";
import { formatDollars } from "../base/money.ts";
import { formatTime } from "../base/time.ts";
import { presentGeneration, presentGenerationLine } from "../core/usage/present-generation.ts";
import { OUTCOMES, type Outcome, type UsageRecord } from "../core/usage/records.ts";
import { formatFields, formatTable } from "./format-table.ts";
import { addJsonOption, DEFAULT_LIMIT, type JsonOption, readLimit } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

interface ListOptions extends JsonOption {
  readonly account?: string;
  readonly key?: string;
  readonly model?: string;
  readonly outcome?: Outcome;
  readonly limit: number;
}

/** `gateway generations` and `generation`: the records of requests. */
export function addGenerationCommands(program: Command): void {
  addJsonOption(
    program
      .command("generations")
      .description("List generations, newest first")
      .option("--account <id>", "Only generations of this account")
      .option("--key <id>", "Only generations of this API key")
      .option("--model <id>", "Only generations of this model")
      .addOption(new Option("--outcome <outcome>", "Only generations with this outcome").choices(OUTCOMES))
      .option("--limit <number>", "Maximum number of rows", readLimit, DEFAULT_LIMIT),
  ).action((options: ListOptions) => withStores((stores) => list(stores, options)));
  addJsonOption(
    program
      .command("generation")
      .description("Show a generation, its attempts and its cost")
      .argument("<id>", "ID of the generation, gen_…"),
  ).action((id: string, options: JsonOption) => withStores((stores) => show(stores, id, options)));
}

async function list({ usage }: Stores, options: ListOptions): Promise<string> {
  const records = await readRecords(usage, options);
  if (options.json) return JSON.stringify({ data: records.map(presentGenerationLine) });
  if (records.length === 0) return "No generations.";
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
async function readRecords(
  usage: Stores["usage"],
  { account, key, model, outcome, limit }: ListOptions,
): Promise<readonly UsageRecord[]> {
  const filter = {
    accountId: account ?? null,
    keyId: key ?? null,
    model: model ?? null,
    outcome: outcome ?? null,
  };
  const records: UsageRecord[] = [];
  let before: string | null = null;
  do {
    const page = await usage.listGenerations({ ...filter, before, limit: limit - records.length });
    records.push(...page.records);
    before = page.next;
  } while (before !== null && records.length < limit);
  return records;
}

async function show({ usage }: Stores, id: string, { json }: JsonOption): Promise<string> {
  const record = await usage.findUsage(id);
  if (record === null) throw new Error(`No generation has the ID ${id}.`);
  const data = presentGeneration(record);
  return json ? JSON.stringify({ data }) : formatFields(data);
}
