import { type Command, InvalidArgumentError } from "commander";
import { parse, stringify } from "yaml";
import {
  deleteConfigSecret,
  exportConfig,
  getConfig,
  getConfigRevision,
  listConfigRevisions,
  listConfigSecrets,
  patchConfig,
  putConfig,
  putConfigSecret,
  restoreConfig,
} from "../../../http/routes/platform/admin-config.ts";
import { listSettings } from "../../../http/routes/platform/admin-settings.ts";
import type { EndpointInput } from "../../callers/caller.ts";
import { type AnswerOf, type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { readDefinition } from "../../endpoint/read-definition.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { type Row, tableOf } from "../../render/columns.ts";
import { confirm } from "../../render/confirm.ts";
import { tell } from "../../render/print.ts";
import { readSecret } from "../../render/read-secret.ts";
import { showChanges } from "./show-changes.ts";

const PATH = {
  name: "<setting>",
  help: "Setting, entry or section: limits.attempts, providers.openai.api_keys, named_routes.fast. Quote parts with dots: 'limits.models.\"gpt-4.1*\"'",
  field: null,
  read: readPath,
} as const;

const DRY_RUN = {
  flags: "--dry-run",
  help: "Only check the change, and show what it would change",
  field: "dry_run",
};

/** `gateway config show|set|unset|apply|export|revisions|restore`: the configuration that the management API stores. */
export function declareStoredConfigCommands(config: Command): void {
  declareCommands(config, [
    defineCommand({
      name: "show",
      description: "Print the stored configuration as YAML, with secrets as references",
      endpoint: getConfig,
      show: ({ data: { revision, document } }) =>
        revision === 0 ? "Nothing is stored." : `# Revision ${revision}.\n${stringify(document).trimEnd()}`,
    }),
    defineCommand({
      name: "sources",
      description: "List the settings in force and where each comes from, with secrets masked",
      endpoint: listSettings,
      options: [{ flags: "--all", help: "Also list settings that have their default", field: null }],
      show({ data }, { options }) {
        const shown = withoutDefaults(data, options["all"] === true);
        if (shown.length === 0) return "All settings have their default.";
        return tableOf([
          ["setting", "name"],
          ["value", "value", (value) => JSON.stringify(value)],
          ["source", "source", printSource],
        ])({ data: shown });
      },
      json: ({ data }, { options }) => ({ data: withoutDefaults(data, options["all"] === true) }),
    }),
    defineCommand({
      name: "set",
      description: "Store a setting. Every gateway applies it within a second",
      endpoint: patchConfig,
      args: [PATH, { name: "<value>", help: "New value, in YAML", field: null, read: readValue }],
      options: [DRY_RUN],
      derives: false,
      examples: [
        "gateway config set limits.attempts 3",
        `gateway config set providers.openai.api_keys '["\${secret:openai}"]'`,
        "gateway config set providers.ollama '{ base_url: http://ollama:11434/v1, models: [{ id: local/llama, name: llama3 }] }'",
      ],
      complete: async (_, { args: [path, value] }) => ({ body: { edits: [{ path, value }] } }),
      show: showWritten,
    }),
    defineCommand({
      name: "unset",
      description: "Remove a stored setting, an entry or a section. The file or the default applies again",
      endpoint: patchConfig,
      args: [PATH],
      options: [DRY_RUN],
      derives: false,
      examples: ["gateway config unset limits.attempts"],
      complete: async (_, { args: [path] }) => ({ body: { edits: [{ path, remove: true }] } }),
      show: showWritten,
    }),
    defineCommand({
      name: "apply",
      description:
        "Replace the stored configuration with a file. It is applied whole or not at all, by every gateway within a second",
      endpoint: putConfig,
      args: [
        { name: "<file>", help: "File in YAML or JSON, as `gateway config export` prints it", field: null },
      ],
      options: [DRY_RUN, { flags: "--yes", help: "Do not ask for confirmation", field: null }],
      derives: false,
      examples: ["gateway config apply gateway.yaml --dry-run", "gateway config apply gateway.yaml --yes"],
      complete: async (_, { args: [file] }) => ({ body: { document: readDefinition(String(file)) } }),
      call: applyDocument,
      show: showWritten,
    }),
    defineCommand({
      name: "export",
      description:
        "Print the configuration of this gateway, stored or not, as YAML with secrets as references",
      endpoint: exportConfig,
      show: ({ data: { document, left_out } }) => {
        const note =
          left_out.length === 0
            ? ""
            : `# These belong to the machine and are not included: ${left_out.join(", ")}.\n`;
        return `${note}${stringify(document).trimEnd()}`;
      },
    }),
    defineCommand({
      name: "revisions",
      endpoint: listConfigRevisions,
      rows: DEFAULT_LIMIT,
      show: tableOf(
        [
          "revision",
          ["at", "changed_at"],
          ["by", "changed_by"],
          ["changed", "changed", (paths) => printPaths(paths as readonly (readonly string[])[])],
        ],
        "Nothing was ever stored.",
      ),
    }),
    defineCommand({
      name: "revision",
      description: "Print a revision of the stored configuration as YAML",
      endpoint: getConfigRevision,
      args: [{ name: "<revision>", help: "Number of the revision", field: "revision" }],
      show: ({ data: { revision, document } }) => `# Revision ${revision}.\n${stringify(document).trimEnd()}`,
    }),
    defineCommand({
      name: "restore",
      endpoint: restoreConfig,
      args: [{ name: "<revision>", help: "Number of the revision", field: "revision" }],
      options: [DRY_RUN],
      derives: false,
      show: showWritten,
    }),
  ]);
}

/** `gateway secrets list|set|delete`: the secrets of the stored configuration. */
export function declareConfigSecretCommands(secrets: Command): void {
  declareCommands(secrets, [
    defineCommand({
      name: "list",
      endpoint: listConfigSecrets,
      show: tableOf(
        [
          "id",
          ["ends in", "last_four", (four) => (four === "" ? "–" : `…${four}`)],
          ["changed", "updated_at"],
        ],
        "No secrets are stored.",
      ),
    }),
    defineCommand({
      name: "set",
      description:
        "Store a secret, or replace its value wherever the configuration refers to it. Reads it from standard input or prompts for it",
      endpoint: putConfigSecret,
      args: [{ name: "<id>", help: "Id of the secret, by which settings refer to it", field: "id" }],
      derives: false,
      examples: ["gateway secrets set openai < key.txt"],
      complete: async (_, { args: [id] }) => ({ body: { value: await readSecret(`Secret ${id}: `) } }),
      show: ({ data }) => `Stored ${data.id}. Running gateways use it within a second.`,
    }),
    defineCommand({
      name: "delete",
      endpoint: deleteConfigSecret,
      args: [{ name: "<id>", help: "Id of the secret", field: "id" }],
      show: ({ data }) => `Deleted ${data.id}.`,
    }),
  ]);
}

type SettingRow = AnswerOf<typeof listSettings>["data"][number];

function withoutDefaults(settings: readonly SettingRow[], all: boolean): readonly SettingRow[] {
  return settings.filter(({ source }) => all || source !== "default");
}

function printSource(source: unknown, { file, line, variable, references }: Row): string {
  if (file === null) return String(variable ?? source);
  return [`${file}:${line}`, ...(references as readonly string[])].join(", ");
}

/** The settings that a row of revisions names. */
const MAX_NAMED = 3;

function printPaths(paths: readonly (readonly string[])[]): string {
  const named = paths.slice(0, MAX_NAMED).map((path) => path.join("."));
  const more = paths.length > MAX_NAMED ? [`and ${paths.length - MAX_NAMED} more`] : [];
  return paths.length === 0 ? "a secret" : [...named, ...more].join(", ");
}

type Written = AnswerOf<typeof putConfig>;

/** Shows what a document changes before it is stored, and asks. */
async function applyDocument(
  { body = {} }: EndpointInput,
  { caller, options }: Omit<CommandRun, "status">,
): Promise<Written> {
  const put = async (isDry: boolean, more: object) => {
    const input = { query: { dry_run: String(isDry) }, body: { ...body, ...more } };
    return (await caller.call(putConfig, input)).body as Written;
  };
  const trial = await put(true, {});
  if (options["dryRun"] === true || trial.data.changes.length === 0) return trial;
  if (options["yes"] !== true) {
    tell(showChanges(trial.data.changes, "on apply"));
    if (!(await confirm("Apply these changes?"))) return trial;
  }
  // The changes that were shown, or none.
  return put(false, { revision: trial.data.revision });
}

function showWritten({ data: { stored, revision, changes } }: Written): string {
  const shown = showChanges(changes, stored ? "in force" : "when it is stored");
  return stored ? `${shown}\n\nStored as revision ${revision}.` : `${shown}\n\nNothing was stored.`;
}

const PARTS = /^(?:"[^"]+"|[^."]+)(?:\.(?:"[^"]+"|[^."]+))*$/;

/** Splits a setting's name at its dots. Parts in double quotes may contain dots. @throws InvalidArgumentError */
function readPath(text: string): readonly string[] {
  if (!PARTS.test(text))
    throw new InvalidArgumentError('It must be a name such as limits.attempts or limits.models."gpt-4.1*".');
  return [...text.matchAll(/"([^"]+)"|[^."]+/g)].map(([whole, quoted]) => quoted ?? whole);
}

/** @throws InvalidArgumentError */
function readValue(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch (error) {
    throw new InvalidArgumentError(`It must be a value in YAML: ${(error as Error).message}`);
  }
}
