import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import type { Command } from "commander";
import { stringify } from "yaml";
import { loadShippedCatalog } from "../../app/catalog/load-catalog.ts";
import { ConfigError } from "../../app/config/config-error.ts";
import { readConfigFile } from "../../app/config/load-config.ts";
import { parseYaml, type YamlSource } from "../../app/config/yaml-source.ts";
import { importLitellm } from "../../app/import/import-litellm.ts";
import { importPortkey } from "../../app/import/import-portkey.ts";
import type { ConfigImportOutcome, ReportEntry } from "../../app/import/import-report.ts";
import type { ImportedConfig } from "../../app/import/imported-config.ts";
import { PYTHON_YAML } from "../../app/import/python-yaml.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";
import { print } from "../render/print.ts";

interface ImportOptions extends JsonOption {
  readonly output: string;
  readonly force?: true;
}

interface PortkeyOptions extends ImportOptions {
  readonly name?: string;
}

/** `gateway import litellm|portkey <file>`: converts the configuration of another gateway. */
export function declareImportCommands(group: Command): void {
  const litellm = group
    .command("litellm")
    .description(
      "Convert the configuration of a LiteLLM proxy, and print what differs. Exits with 2 if something was not taken over",
    )
    .argument("<file>", "The other gateway's config.yaml");
  addExamples(litellm, [
    "gateway import litellm config.yaml",
    "gateway import litellm config.yaml --output new.yaml --json",
  ]);
  addOutputOptions(litellm).action((file: string, options: ImportOptions) =>
    write(importLitellm(readWithIncludes(file), loadShippedCatalog()), options),
  );
  const portkey = group
    .command("portkey")
    .description(
      "Convert a Portkey gateway config, and print what differs. Exits with 2 if something was not taken over",
    )
    .argument("<file>", "The other gateway's config, as JSON")
    .option("--name <name>", "Model name that clients send for it (default: the file's name)");
  addExamples(portkey, ["gateway import portkey config.json --name assistant"]);
  addOutputOptions(portkey).action((file: string, options: PortkeyOptions) => {
    const name = options.name ?? basename(file, extname(file));
    return write(importPortkey(readImportFile(file), name, loadShippedCatalog()), options);
  });
}

function addOutputOptions(command: Command): Command {
  command
    .option("--output <file>", "Configuration file to write", "gateway.yaml")
    .option("--force", "Replace the file if it exists");
  return addJsonOption(command);
}

function write(imported: ImportedConfig, { output, force, json }: ImportOptions): void {
  if (existsSync(output) && force !== true)
    throw new Error(`${output} exists. Name another file with --output, or replace it with --force.`);
  // It may contain keys from the other gateway's file.
  writeFileSync(output, stringify(imported.config), { mode: 0o600 });
  chmodSync(output, 0o600);
  const { entries, variables } = imported;
  if (entries.some(({ outcome }) => outcome === "missing")) process.exitCode = EXIT_CODES.incomplete;
  print(json ? JSON.stringify({ data: { output, variables, entries } }) : printReport(imported, output));
}

/** In the order of the report: what needs attention first. */
const HEADINGS: Readonly<Record<ConfigImportOutcome, string>> = {
  unpriced: "Without a price",
  missing: "Not taken over",
  differs: "Differs",
  taken: "Taken over",
};

function printReport({ entries, variables }: ImportedConfig, output: string): string {
  const sections = (Object.keys(HEADINGS) as ConfigImportOutcome[]).flatMap((outcome) => {
    const found = entries.filter((entry) => entry.outcome === outcome);
    return found.length === 0
      ? []
      : [`${HEADINGS[outcome]} (${found.length}):`, ...found.map(printEntry), ""];
  });
  const needed =
    variables.length === 0 ? [] : [`It refers to the environment variables ${variables.join(", ")}.`];
  return [...sections, `Wrote ${output}.`, ...needed, `Next: gateway config check ${output}`].join("\n");
}

function printEntry({ file, line, source, target, text }: ReportEntry): string {
  return `  ${file}:${line}: ${source}${target === null ? "" : ` -> ${target}`}: ${text}`;
}

const MAX_INCLUDES = 50;

/**
 * Reads a file of Portkey's configuration, YAML or JSON.
 * @throws ConfigError
 */
function readImportFile(file: string): YamlSource {
  return parseYaml(readConfigFile({}, file).source, file);
}

/**
 * Reads a file as LiteLLM does, in Python.
 * @throws ConfigError
 */
function readLitellmFile(file: string): YamlSource {
  return parseYaml(readConfigFile({}, file).source, file, PYTHON_YAML);
}

/**
 * Reads a LiteLLM configuration and the files that its `include` names.
 * @throws ConfigError
 */
function readWithIncludes(file: string): readonly YamlSource[] {
  const first = readLitellmFile(file);
  const { include } = first.value;
  const names = (Array.isArray(include) ? (include as unknown[]) : []).filter(
    (name) => typeof name === "string",
  );
  if (names.length > MAX_INCLUDES) throw new ConfigError(`${file} includes more than ${MAX_INCLUDES} files`);
  return [first, ...names.map((name) => readLitellmFile(resolve(dirname(file), name)))];
}
