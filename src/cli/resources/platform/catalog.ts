import { type Command, Option } from "commander";
import { importCatalog } from "../../../app/catalog/import-catalog.ts";
import { createDirectoryTarget, createStoreTarget } from "../../../app/catalog/import-target.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../../app/catalog/shipped-files.ts";
import type { Config } from "../../../app/config/config-schema.ts";
import type { Stores } from "../../../app/stores/stores.ts";
import {
  approveCatalogChange,
  getCatalog,
  listCatalogChanges,
  postCatalogRefresh,
  rejectCatalogChange,
} from "../../../http/routes/models/admin-catalog.ts";
import type { EndpointInput } from "../../callers/caller.ts";
import { withStores } from "../../callers/with-stores.ts";
import { type AnswerOf, type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { printDay, printText, tableOf } from "../../render/columns.ts";
import { formatTable } from "../../render/format-table.ts";

/** A refresh reads its source, which may be slow. Milliseconds. */
const REFRESH_MS = 300_000;

/** `gateway catalog`: keeps models and prices up to date. */
export function declareCatalogCommands(catalog: Command): void {
  addImport(catalog);
  declareCommands(catalog, [
    defineRefresh("refresh", {
      description: "Merge models and prices from the source. Large price changes are held for a decision",
      isDry: false,
    }),
    defineRefresh("diff", {
      description: "Show what a refresh would change, without changing it",
      isDry: true,
    }),
    defineCommand({
      name: "pending",
      description: "List price changes that await a decision",
      endpoint: listCatalogChanges,
      options: [
        {
          flags: "--rejected",
          help: "List rejected changes instead",
          field: "status",
          read: () => "rejected",
        },
      ],
      complete: async ({ query: { status } }) => ({
        query: { status: status === undefined ? undefined : "rejected" },
      }),
      show: ({ data }, { options }) =>
        data.length === 0
          ? `No ${options["rejected"] === undefined ? "pending" : "rejected"} price changes.`
          : formatHeld(data),
    }),
    defineDecision("approve", {
      description: "Apply held price changes",
      endpoint: approveCatalogChange,
      outcome: "These prices are in force. A running gateway applies them within a second.",
    }),
    defineDecision("reject", {
      description: "Reject held price changes, until the source lists other prices",
      endpoint: rejectCatalogChange,
      outcome: "The current prices stay in force until the source lists different ones.",
    }),
    defineCommand({
      name: "status",
      description: "Show the last refresh, missing models and the number of held price changes",
      endpoint: getCatalog,
      show: ({ data }) => formatStatus(data),
    }),
  ]);
}

interface ImportOptions {
  readonly source?: string;
  readonly priceMap?: string;
  readonly label?: string;
  readonly into: "data" | "catalog";
  readonly dryRun?: boolean;
}

function addImport(catalog: Command): void {
  catalog
    .command("import")
    .description("Replace all models and prices with those of a list in the format of models.dev")
    .option("--source <url|file>", "List to read (default: catalog.source, else models.dev)")
    .option(
      "--price-map <url|file>",
      "Price map in the format of litellm, which completes the list and overrides its prices (default: catalog.price_map)",
    )
    .option("--label <text>", "Name of the source in the catalog (default: URLs or file names, and the date)")
    .addOption(
      new Option("--into <target>", "data: this gateway's catalog; catalog: the files that the project ships")
        .choices(["data", "catalog"])
        .default("data"),
    )
    .option("--dry-run", "Show what would change, without changing it")
    .action((options: ImportOptions) => withStores((stores, config) => runImport(stores, config, options)));
}

async function runImport(
  { catalog }: Stores,
  { catalog: { source: configured, price_map: configuredMap } }: Config,
  { source = configured, priceMap = configuredMap, label, into, dryRun = false }: ImportOptions,
): Promise<string> {
  if (into === "catalog" && Bun.isStandaloneExecutable)
    throw new Error("--into catalog needs the project's files; a single executable cannot change its own.");
  const target =
    into === "data" ? createStoreTarget(catalog) : createDirectoryTarget(SHIPPED_CATALOG_DIRECTORY);
  const outcome = await importCatalog({
    target,
    dryRun,
    ...(source === undefined ? {} : { source }),
    ...(priceMap === undefined ? {} : { priceMap }),
    ...(label === undefined ? {} : { label }),
  });
  const text = outcome.lines.join("\n");
  if (!outcome.ok) throw new Error(text);
  return text;
}

type Change = AnswerOf<typeof listCatalogChanges>["data"][number];
type Report = AnswerOf<typeof postCatalogRefresh>;

function defineRefresh(
  name: string,
  { description, isDry }: { readonly description: string; readonly isDry: boolean },
) {
  return defineCommand({
    name,
    description,
    endpoint: postCatalogRefresh,
    fixed: { dry_run: isDry },
    async call(input, { caller }) {
      try {
        return (await caller.call(postCatalogRefresh, input, REFRESH_MS)).body as Report;
      } catch (error) {
        throw explainRefresh(error);
      }
    },
    show({ data: { written, difference, waiting } }) {
      const outcome = isDry ? "nothing was changed" : written ? "written" : "nothing to change";
      return [...difference, outcome, ...(waiting.length > 0 ? ["", formatHeld(waiting)] : [])].join("\n");
    },
  });
}

/** Returns the error of a failed refresh with the problem of the source first. */
function explainRefresh(error: unknown): unknown {
  const [, problem] = /^The catalog was not refreshed: (.*)\.$/s.exec((error as Error).message) ?? [];
  return problem === undefined ? error : new Error(`${problem}\nnothing was changed`);
}

function formatHeld(held: readonly Change[]): string {
  const data = held.flatMap(({ jumps, ...change }) => jumps.map((jump) => ({ ...change, ...jump, jump })));
  return tableOf([
    ...["id", "model", "provider"],
    ["price", "jump", (jump) => nameJump(jump as Change["jumps"][number])],
    ["in force", "before", (price) => printText(price ?? "none")],
    ["at the source", "after", (price) => printText(price ?? "none")],
    ["since", "seen_at", printDay],
  ])({ data });
}

function nameJump({ kind, min_prompt_tokens, from }: Change["jumps"][number]): string {
  const tier = min_prompt_tokens === null ? "" : ` from ${min_prompt_tokens} tokens`;
  return `${kind}${tier}${from === null ? "" : ` from ${from}`}`;
}

/** How a decision is described. */
interface Decision {
  readonly description: string;
  readonly endpoint: typeof approveCatalogChange;
  readonly outcome: string;
}

function defineDecision(name: string, { description, endpoint, outcome }: Decision) {
  return defineCommand({
    name,
    description,
    endpoint,
    args: [
      {
        name: "[ids...]",
        help: "IDs of changes, as listed by `gateway catalog pending`",
        field: null,
      },
    ],
    options: [{ flags: "--all", help: "All changes that await a decision", field: null }],
    call: (_, run) => decide(endpoint, run),
    show: ({ data }) =>
      data.length === 0
        ? "No pending price changes."
        : [...data.map(({ id, model, provider }) => `${id}  ${model} at ${provider}`), outcome].join("\n"),
  });
}

async function decide(
  endpoint: Decision["endpoint"],
  { caller, args: [ids], options: { all } }: Pick<CommandRun, "caller" | "args" | "options">,
): Promise<{ data: Change[] }> {
  const named = ids as readonly string[];
  if ((named.length === 0) !== (all === true)) throw new Error("Give the IDs of changes, or --all.");
  const data: Change[] = [];
  for (const id of all === true ? ["all"] : named) {
    const input: Partial<EndpointInput> = { params: { id } };
    data.push(...((await caller.call(endpoint, input)).body as { data: Change[] }).data);
  }
  return { data };
}

function formatStatus({ difference, missing, ...status }: AnswerOf<typeof getCatalog>["data"]): string {
  const lines = Object.entries(status).map(([name, value]) => [
    name.replaceAll("_", " "),
    String(value ?? "none"),
  ]);
  const rows = missing.map(({ model, since, expiration_date }) => [model, since, expiration_date ?? "none"]);
  return [
    formatTable(["field", "value"], lines),
    ...(rows.length > 0 ? ["", formatTable(["missing", "since", "served until"], rows)] : []),
    ...(difference.length > 0 ? ["", "Last change:", ...difference] : []),
  ].join("\n");
}
