import { join } from "node:path";
import type { Command } from "commander";
import { createCatalogKeeper } from "../app/catalog-keeper.ts";
import { importCatalog } from "../app/import-catalog.ts";
import { loadCatalog, OVERRIDE_FILE, SHIPPED_CATALOG_DIRECTORY } from "../app/load-catalog.ts";
import { loadConfig } from "../app/load-config.ts";
import type { CatalogKeeper, Verdict } from "../core/catalog/catalog-keeper.ts";
import { endMissing } from "../core/catalog/expiry.ts";
import { presentHeldChange } from "../core/catalog/present-held-change.ts";
import { presentStatus } from "../core/catalog/present-status.ts";
import { auditCommand } from "./audit-command.ts";
import { formatTable } from "./format-table.ts";
import { withStores } from "./with-stores.ts";

interface ImportOptions {
  readonly source?: string;
  readonly into: string;
  readonly dryRun?: boolean;
}

interface Shown {
  readonly json?: boolean;
}

/** `gateway catalog`: keeps models and prices up to date, whether or not a gateway runs. */
export function addCatalogCommands(program: Command): void {
  const catalog = program.command("catalog").description("look after the catalog of models");
  addImport(catalog);
  catalog
    .command("refresh")
    .description(
      "read models and prices anew; changes of prices beyond the factor wait, what is missing is marked",
    )
    .option("--json", "print JSON")
    .action((options: Shown) => refresh(false, options));
  catalog
    .command("diff")
    .description("say what a refresh would change, and change nothing")
    .option("--json", "print JSON")
    .action((options: Shown) => refresh(true, options));
  catalog
    .command("pending")
    .description("list changes of prices that wait for a decision")
    .option("--rejected", "those that were rejected")
    .option("--json", "print JSON")
    .action((options: Shown & { rejected?: boolean }) =>
      withKeeper(async (keeper) => listHeld(keeper, options)),
    );
  addDecision(
    catalog,
    "approve",
    "put changes of prices in force; a running gateway takes them up within a second",
  );
  addDecision(catalog, "reject", "keep the prices in force until the source has others");
  catalog
    .command("status")
    .description("say when the catalog was last refreshed, what is missing and what waits")
    .option("--json", "print JSON")
    .action((options: Shown) => withKeeper(async (keeper) => showStatus(keeper, options)));
}

function addImport(catalog: Command): void {
  catalog
    .command("import")
    .description(
      "read models and prices from a list in the shape of models.dev and take all of it; a running gateway takes them up",
    )
    .option("--source <address or file>", "where to read; the public list when left out")
    .option(
      "--into <data|catalog>",
      "data: for the gateway on this data directory; catalog: the project's own files",
      "data",
    )
    .option("--dry-run", "say what would change and change nothing")
    .action(runImport);
}

function addDecision(catalog: Command, verdict: Verdict, description: string): void {
  catalog
    .command(verdict)
    .description(description)
    .argument("[ids...]", "ids of changes, as `pending` lists them")
    .option("--all", "all that wait")
    .option("--json", "print JSON")
    .action((ids: string[], options: Shown & { all?: boolean }) => decide(ids, verdict, options));
}

async function runImport(options: ImportOptions): Promise<void> {
  if (options.into !== "data" && options.into !== "catalog")
    throw new Error("--into must be data or catalog");
  const config = loadConfig(process.env);
  const source = options.source ?? config.catalog.source;
  const outcome = await importCatalog({
    target: options.into === "data" ? join(config.data_dir, OVERRIDE_FILE) : SHIPPED_CATALOG_DIRECTORY,
    ...(source === undefined ? {} : { source }),
    ...(options.dryRun ? { dryRun: true } : {}),
  });
  if (!outcome.ok) throw new Error(outcome.lines.join("\n"));
  console.log(outcome.lines.join("\n"));
}

function withKeeper(work: (keeper: CatalogKeeper) => Promise<string>): Promise<void> {
  return withStores(({ clock }) => work(openKeeper(clock)));
}

/** A running gateway sees what was written by itself. */
function openKeeper(clock: Parameters<typeof createCatalogKeeper>[0]["clock"]): CatalogKeeper {
  return createCatalogKeeper({ config: loadConfig(process.env), clock, takeUp: async () => {} });
}

function refresh(dryRun: boolean, { json }: Shown): Promise<void> {
  return withStores(async (stores) => {
    const report = await openKeeper(stores.clock).refresh({ dryRun });
    if (!report.ok) throw new Error(`${report.problem}\nnothing was changed`);
    const { written, added, changed, lines: difference } = report;
    const waiting = report.waiting.map(presentHeldChange);
    if (!dryRun) {
      const changes = { added, changed };
      await auditCommand(stores, {
        action: "gateway catalog refresh",
        accountId: null,
        target: "catalog",
        changes,
      });
    }
    if (json) return JSON.stringify({ data: { written, added, changed, difference, waiting } });
    const end = dryRun ? "nothing was changed" : written ? "written" : "nothing to change";
    return [...difference, end, ...(waiting.length > 0 ? ["", printHeld(waiting)] : [])].join("\n");
  });
}

async function listHeld(
  keeper: CatalogKeeper,
  { json, rejected }: Shown & { rejected?: boolean },
): Promise<string> {
  const held = keeper.listHeld()[rejected ? "rejected" : "waiting"].map(presentHeldChange);
  if (json) return JSON.stringify({ data: held });
  return held.length === 0 ? "There is nothing to decide on." : printHeld(held);
}

function printHeld(held: readonly ReturnType<typeof presentHeldChange>[]): string {
  const rows = held.flatMap(({ id, model, provider, jumps, seen_at }) =>
    jumps.map((jump) => [
      id,
      model,
      provider,
      [
        jump.kind,
        jump.min_prompt_tokens === null ? "" : ` from ${jump.min_prompt_tokens} tokens`,
        jump.from === null ? "" : ` from ${jump.from}`,
      ].join(""),
      jump.before ?? "none",
      jump.after ?? "none",
      seen_at.slice(0, 10),
    ]),
  );
  return formatTable(["id", "model", "provider", "price", "in force", "at the source", "since"], rows);
}

function decide(
  ids: readonly string[],
  verdict: Verdict,
  { all, json }: Shown & { all?: boolean },
): Promise<void> {
  if ((ids.length === 0) !== (all === true)) throw new Error("name the ids of changes, or say --all");
  return withStores(async (stores) => {
    const keeper = openKeeper(stores.clock);
    const decided = [];
    for (const id of all ? ["all"] : ids) decided.push(...(await keeper.decide(id, verdict)));
    const shown = decided.map(presentHeldChange);
    for (const { id, model, provider, before, after } of shown) {
      const changes = { model, provider, before, after };
      await auditCommand(stores, {
        action: `gateway catalog ${verdict}`,
        accountId: null,
        target: id,
        changes,
      });
    }
    if (json) return JSON.stringify({ data: shown });
    if (shown.length === 0) return "There is nothing to decide on.";
    return `${shown.map(({ id, model, provider }) => `${id}  ${model} at ${provider}`).join("\n")}\n${DONE[verdict]}`;
  });
}

const DONE: Readonly<Record<Verdict, string>> = {
  approve: "These prices are in force; a running gateway takes them up within a second.",
  reject: "The prices before stay in force until the source has others.",
};

async function showStatus(keeper: CatalogKeeper, { json }: Shown): Promise<string> {
  const { data_dir: dataDirectory, catalog } = loadConfig(process.env);
  const { models } = loadCatalog({ dataDirectory }).data;
  const { difference, missing, ...status } = presentStatus(
    keeper.status(),
    endMissing(models, catalog.grace_days),
  );
  if (json) return JSON.stringify({ data: { ...status, missing, difference } });
  const lines = Object.entries(status).map(([name, value]) => [
    name.replaceAll("_", " "),
    String(value ?? "none"),
  ]);
  const rows = missing.map(({ model, since, expiration_date }) => [model, since, expiration_date ?? "none"]);
  return [
    formatTable(["what", "value"], lines),
    ...(rows.length > 0 ? ["", formatTable(["missing", "since", "served until"], rows)] : []),
    ...(difference.length > 0 ? ["", "the last change:", ...difference] : []),
  ].join("\n");
}
