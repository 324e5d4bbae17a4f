import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { loadConfig } from "../../app/config/load-config.ts";
import { CLIENTS, type ClientFile, KEY_VARIABLE } from "../../app/connect/client-files.ts";
import { type FileChange, planConnect, planUndo } from "../../app/connect/connect-file.ts";
import { diffLines } from "../../app/connect/diff-lines.ts";
import { baseOf, localUrl, readUrl } from "../callers/gateway-url.ts";
import { addExamples } from "../endpoint/read-options.ts";
import { print } from "../render/print.ts";
import { readSecret } from "../render/read-secret.ts";

interface ConnectOptions {
  readonly url?: string;
  readonly model?: readonly [string, ...string[]];
  readonly keyInFile?: true;
  readonly undo?: true;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly home?: string;
  readonly file?: string;
}

/** `gateway connect claude|codex|opencode`: writes the configuration of a client on this machine. */
export function declareConnectCommand(command: Command): void {
  command
    .argument("<client>", `Client: ${Object.keys(CLIENTS).join(", ")}`, readClient)
    .option("--url <url>", "Address of the gateway (default: the configured host and port)", readUrl)
    .option("--model <ids>", "Models or named routes, comma-separated, the preferred one first", readModels)
    .option(
      "--key-in-file",
      `Read an API key from standard input into the file, instead of using ${KEY_VARIABLE}`,
    )
    .option("--undo", "Take back what was written, and keep what was changed since")
    .option("--dry-run", "Only print the difference")
    .option("--yes", "Write without asking")
    .option("--home <folder>", "Home folder of the client (default: yours)")
    .option("--file <file>", "Configuration file of the client, instead of the one in its home folder");
  addExamples(command, [
    "gateway connect claude --model anthropic/claude-sonnet-5",
    "gateway connect opencode --model openai/gpt-5.4,anthropic/claude-sonnet-5 --yes",
    "gateway connect codex --undo",
  ]).action(connect);
}

async function connect(client: ClientFile, options: ConnectOptions): Promise<void> {
  const file = options.file ?? findFile(client, options.home ?? homedir());
  const key = options.keyInFile && options.undo !== true ? await readSecret("API key: ") : null;
  const change = options.undo ? planUndo(file, client.editor) : planChange(client, file, { options, key });
  if (change.before === change.after && options.undo !== true) {
    print(`${file} is as it should be.`);
    return;
  }
  print([file, ...describe(change, key)].join("\n"));
  if (options.dryRun === true) return;
  if (options.yes !== true && !confirmWriting()) throw new Error("Nothing was written.");
  change.apply();
  print(describeEnd(client, options));
}

function planChange(
  { edits, editor, name }: ClientFile,
  file: string,
  { options, key }: { readonly options: ConnectOptions; readonly key: string | null },
): FileChange {
  const { url, model: models } = options;
  if (models === undefined)
    throw new Error(
      `Name the models that ${name} is to use with --model. gateway models list shows their ids.`,
    );
  const parameters = { url: baseOf(url ?? localUrl(loadConfig(process.env))), models, key };
  return planConnect(file, editor, { edits: edits(parameters), hasSecret: key !== null });
}

function describe({ before, after, kept }: FileChange, key: string | null): string[] {
  const lines = diffLines(before, after).map((line) =>
    key === null ? line : line.replaceAll(key, `${key.slice(0, 3)}…`),
  );
  return [...lines, ...kept.map((path) => `${path} was changed since, and stays as it is.`)];
}

function describeEnd({ name }: ClientFile, { undo, keyInFile }: ConnectOptions): string {
  if (undo) return `${name} is configured as before.`;
  const key = keyInFile
    ? ""
    : ` It reads its key from ${KEY_VARIABLE}: gateway keys create makes one, and your shell must export it.`;
  return `${name} uses the gateway when it is started again.${key} --undo takes this back.`;
}

/** Asks on a terminal. Scripts say --yes. */
function confirmWriting(): boolean {
  if (!process.stdin.isTTY) throw new Error("Nothing was written: add --yes to write without a terminal.");
  return /^y(es)?$/i.test((prompt("Write this? [y/N]") ?? "").trim());
}

function findFile({ files }: ClientFile, home: string): string {
  const paths = files.map((path) => join(home, path));
  return paths.find((path) => existsSync(path)) ?? (paths[0] as string);
}

function readClient(name: string): ClientFile {
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
  if (client === undefined)
    throw new InvalidArgumentError(`It must be one of: ${Object.keys(CLIENTS).join(", ")}.`);
  return client;
}

function readModels(text: string): readonly [string, ...string[]] {
  const models = text.split(",").map((model) => model.trim()) as [string, ...string[]];
  if (models.some((model) => model === "")) throw new InvalidArgumentError("It must be a list of models.");
  return models;
}
