import { type Command, Option } from "commander";
import { createCatalogManager } from "../../app/catalog-manager.ts";
import type { Config } from "../../app/config-schema.ts";
import { importCatalog } from "../../app/import-catalog.ts";
import { createDirectoryTarget, createStoreTarget } from "../../app/import-target.ts";
import { loadCatalog } from "../../app/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../app/shipped-files.ts";
import type { Stores } from "../../app/stores.ts";
import type { CatalogManager, Verdict } from "../../core/catalog/catalog-manager.ts";
import { endMissing } from "../../core/catalog/expiry.ts";
import { presentHeldChange } from "../../core/catalog/present-held-change.ts";
import { presentStatus } from "../../core/catalog/present-status.ts";
import { withStores } from "../callers/with-stores.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { formatTable } from "../render/format-table.ts";

/** `gateway catalog`: keeps models and prices up to date. A gateway may be running on the same stores. */
export function declareCatalogCommands(catalog: Command): void {
  addImport(catalog);
  addRefresh(catalog);
  addPending(catalog);
  addDecision(catalog, "approve", "Put held price changes in force");
  addDecision(catalog, "reject", "Keep the prices in force until the source lists different ones");
  addJsonOption(
    catalog
      .command("status")
      .description("Show the last refresh, missing models and the number of held price changes"),
  ).action((options: JsonOption) =>
    withStores((stores, config) =>
      showStatus({ stores, config, manager: openManager(stores, config) }, options),
    ),
  );
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

function addRefresh(catalog: Command): void {
  addJsonOption(
    catalog
      .command("refresh")
      .description("Merge models and prices from the source; large price changes are held for a decision"),
  ).action((options: JsonOption) => withStores((stores, config) => refresh(stores, config, options)));
  addJsonOption(
    catalog.command("diff").description("Show what a refresh would change, without changing it"),
  ).action((options: JsonOption) => withStores((stores, config) => diff(stores, config, options)));
}

interface PendingOptions extends JsonOption {
  readonly rejected?: boolean;
}

function addPending(catalog: Command): void {
  addJsonOption(
    catalog
      .command("pending")
      .description("List price changes that await a decision")
      .option("--rejected", "List rejected changes instead"),
  ).action((options: PendingOptions) =>
    withStores((stores, config) => listHeld(openManager(stores, config), options)),
  );
}

interface DecideOptions extends JsonOption {
  readonly all?: boolean;
}

function addDecision(catalog: Command, verdict: Verdict, description: string): void {
  addJsonOption(
    catalog
      .command(verdict)
      .description(description)
      .argument("[ids...]", "IDs of changes, as listed by `gateway catalog pending`")
      .option("--all", "All changes that await a decision"),
  ).action((ids: string[], options: DecideOptions) => decide(ids, verdict, options));
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

function openManager({ catalog, clock, leases, ids }: Stores, config: Config): CatalogManager {
  return createCatalogManager({
    config: () => config,
    store: catalog,
    clock,
    leases,
    owner: ids.next("command"),
  });
}

async function diff(stores: Stores, config: Config, options: JsonOption): Promise<string> {
  return printReport(await runRefresh(stores, config, true), "nothing was changed", options);
}

async function refresh(stores: Stores, config: Config, options: JsonOption): Promise<string> {
  const report = await runRefresh(stores, config, false);
  const { added, changed, written } = report;
  const audited = { accountId: null, target: "catalog", changes: { added, changed } };
  await auditCommand(stores, { action: "gateway catalog refresh", ...audited });
  return printReport(report, written ? "written" : "nothing to change", options);
}

async function runRefresh(stores: Stores, config: Config, dryRun: boolean) {
  const report = await openManager(stores, config).refresh({ dryRun });
  if (!report.ok) throw new Error(`${report.problem}\nnothing was changed`);
  return report;
}

function printReport(
  { written, added, changed, lines: difference, waiting: held }: Awaited<ReturnType<typeof runRefresh>>,
  outcome: string,
  { json }: JsonOption,
): string {
  const waiting = held.map(presentHeldChange);
  if (json) return JSON.stringify({ data: { written, added, changed, difference, waiting } });
  return [...difference, outcome, ...(waiting.length > 0 ? ["", printHeld(waiting)] : [])].join("\n");
}

async function listHeld(manager: CatalogManager, { json, rejected }: PendingOptions): Promise<string> {
  const held = (await manager.listHeld())[rejected ? "rejected" : "waiting"].map(presentHeldChange);
  if (json) return JSON.stringify({ data: held });
  return held.length === 0 ? `No ${rejected ? "rejected" : "pending"} price changes.` : printHeld(held);
}

type HeldView = ReturnType<typeof presentHeldChange>;

function printHeld(held: readonly HeldView[]): string {
  const rows = held.flatMap(({ id, model, provider, jumps, seen_at }) =>
    jumps.map((jump) => [
      id,
      model,
      provider,
      nameJump(jump),
      jump.before ?? "none",
      jump.after ?? "none",
      seen_at.slice(0, "YYYY-MM-DD".length),
    ]),
  );
  return formatTable(["id", "model", "provider", "price", "in force", "at the source", "since"], rows);
}

function nameJump({ kind, min_prompt_tokens, from }: HeldView["jumps"][number]): string {
  const tier = min_prompt_tokens === null ? "" : ` from ${min_prompt_tokens} tokens`;
  return `${kind}${tier}${from === null ? "" : ` from ${from}`}`;
}

async function decide(ids: readonly string[], verdict: Verdict, { all, json }: DecideOptions): Promise<void> {
  if ((ids.length === 0) !== (all === true)) throw new Error("Give the IDs of changes, or --all.");
  return withStores(async (stores, config) => {
    const manager = openManager(stores, config);
    const decided: HeldView[] = [];
    for (const id of all ? ["all"] : ids)
      decided.push(...(await manager.decide(id, verdict)).map(presentHeldChange));
    for (const change of decided) await auditDecision(stores, verdict, change);
    if (json) return JSON.stringify({ data: decided });
    if (decided.length === 0) return "No pending price changes.";
    const lines = decided.map(({ id, model, provider }) => `${id}  ${model} at ${provider}`);
    return [...lines, OUTCOMES[verdict]].join("\n");
  });
}

function auditDecision(stores: Stores, verdict: Verdict, change: HeldView): Promise<void> {
  const { id, model, provider, before, after } = change;
  const changes = { model, provider, before, after };
  return auditCommand(stores, {
    action: `gateway catalog ${verdict}`,
    accountId: null,
    target: id,
    changes,
  });
}

const OUTCOMES: Readonly<Record<Verdict, string>> = {
  approve: "These prices are in force. A running gateway applies them within a second.",
  reject: "The current prices stay in force until the source lists different ones.",
};

interface StatusContext {
  readonly stores: Stores;
  readonly config: Config;
  readonly manager: CatalogManager;
}

async function showStatus({ stores, config, manager }: StatusContext, { json }: JsonOption): Promise<string> {
  const { models } = (await loadCatalog(stores.catalog)).data;
  const listed = endMissing(models, config.catalog.grace_days);
  const { difference, missing, ...status } = presentStatus(await manager.status(), listed);
  if (json) return JSON.stringify({ data: { ...status, missing, difference } });
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
