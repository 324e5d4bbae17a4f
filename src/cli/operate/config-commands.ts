import type { Command } from "commander";
import { loadProviders } from "../../app/catalog/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../app/catalog/shipped-files.ts";
import { listSettings } from "../../app/config/list-settings.ts";
import { LiveConfig } from "../../app/config/live-config.ts";
import { loadConfig } from "../../app/config/load-config.ts";
import { printConfig } from "../../app/config/print-config.ts";
import { presentSetting, type Setting } from "../../core/settings/setting.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { formatTable } from "../render/format-table.ts";
import { print } from "../render/print.ts";
import { declareStoredConfigCommands } from "../resources/platform/stored-config.ts";
import { addConfigCheck } from "./config-check.ts";

interface SourcesOptions extends JsonOption {
  readonly all?: true;
}

/** `gateway config`: what is stored, and what results from file and environment. */
export function declareConfigCommands(config: Command): void {
  declareStoredConfigCommands(config);
  addConfigCheck(config);
  config
    .command("print")
    .description("Print the configuration in force, with secrets masked")
    .action(() => {
      print(printConfig(loadConfig(process.env)).trimEnd());
    });
  addJsonOption(
    config
      .command("sources")
      .description("List the settings in force and where each comes from, with secrets masked")
      .option("--all", "Also list settings that have their default"),
  ).action((options: SourcesOptions) => print(printSources(options)));
}

function printSources({ all, json }: SourcesOptions): string {
  const environment = process.env;
  const providers = loadProviders(SHIPPED_CATALOG_DIRECTORY);
  const live = new LiveConfig(loadConfig(environment));
  const settings = listSettings({ live, environment, providers });
  const shown = settings.filter(({ source }) => all === true || source !== "default");
  if (json) return JSON.stringify({ data: shown.map(presentSetting) });
  if (shown.length === 0) return "All settings have their default.";
  const rows = shown.map((setting) => [setting.name, JSON.stringify(setting.value), printSource(setting)]);
  return formatTable(["setting", "value", "source"], rows);
}

function printSource({ source, file, line, variable, references }: Setting): string {
  if (file === null) return variable ?? source;
  return [`${file}:${line}`, ...references].join(", ");
}
