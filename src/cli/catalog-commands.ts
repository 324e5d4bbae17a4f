import { join } from "node:path";
import type { Command } from "commander";
import { importCatalog } from "../app/import-catalog.ts";
import { OVERRIDE_FILE, SHIPPED_CATALOG_DIRECTORY } from "../app/load-catalog.ts";
import { loadConfig } from "../app/load-config.ts";

interface ImportOptions {
  readonly source?: string;
  readonly into: string;
  readonly dryRun?: boolean;
}

/** `gateway catalog import`: brings models and prices up to date from the public list. */
export function addCatalogCommands(program: Command): void {
  const catalog = program.command("catalog").description("look after the catalog of models");
  catalog
    .command("import")
    .description(
      "read models and prices from a list in the shape of models.dev; a running gateway takes them up",
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
