import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Random } from "../base/random.ts";
import {
  createMasterKey,
  type MasterKey,
  type MasterKeySource,
  readMasterKey,
} from "../core/provider-keys/vault.ts";
import { PRIVATE_FILE } from "../storage/files/private-files.ts";
import type { Config } from "./config-schema.ts";
import { ConfigError } from "./load-config.ts";

/** Where master keys are kept that nobody configured. */
const FILE = "secrets.key";

/** The master keys of a gateway, and how further ones are made. */
export interface MasterKeys extends MasterKeySource {
  /** The id of the configured master key that seals; null: the newest stands in the data directory, made by the gateway. */
  readonly configuredId: string | null;
  /** The file in the data directory. */
  readonly file: string;
  /** Makes another one the newest, in the file; of the others there those stay that `keep` names. */
  generate(keep: ReadonlySet<string>): MasterKey;
}

/**
 * The master keys of the configuration, in their order, and behind them those of the data directory. Without any, one is
 * made there when the first secret is sealed.
 * @throws ConfigError where one is the management key, or the file holds something else.
 */
export function openMasterKeys(config: Config, random: Random): MasterKeys {
  const file = join(config.data_dir, FILE);
  const configured = config.secrets.keys.map((text) => readMasterKey(text) as MasterKey);
  if (config.admin_key !== undefined && config.secrets.keys.includes(config.admin_key))
    throw new ConfigError("secrets.keys must not have the management key in it: make another one");
  let generated = readFile(file);

  const list = (): readonly MasterKey[] => [...configured, ...generated.map(({ master }) => master)];
  const reload = (): void => {
    generated = readFile(file);
  };
  return {
    file,
    configuredId: configured[0]?.id ?? null,
    list,
    reload,
    newest() {
      reload();
      if (list().length === 0) {
        makeFile(file, createMasterKey(random));
        reload();
      }
      return list()[0] as MasterKey;
    },
    generate(keep) {
      reload();
      const kept = generated.filter(({ master }) => keep.has(master.id)).map(({ text }) => text);
      replaceFile(file, [createMasterKey(random), ...kept]);
      reload();
      return (generated[0] as Line).master;
    },
  };
}

interface Line {
  readonly text: string;
  readonly master: MasterKey;
}

function readFile(file: string): readonly Line[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((text) => {
    const master = readMasterKey(text);
    if (master === null) throw new ConfigError(`${file} has a line that is no master key; restore it`);
    return { text, master };
  });
}

const HEADING = [
  "# Master keys: they seal the provider keys that accounts have stored. The first seals, all open.",
  "# Without them those keys are lost. Keep a copy apart from the database.",
];

/** Of two processes that make it at once, the first one's stands. */
function makeFile(file: string, key: string): void {
  const draft = writeDraft(file, [key]);
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(file);
}

function replaceFile(file: string, keys: readonly string[]): void {
  renameSync(writeDraft(file, keys), file);
  syncFolder(file);
}

/** On the disk before anything is sealed with it. */
function writeDraft(file: string, keys: readonly string[]): string {
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, "w", PRIVATE_FILE);
  try {
    writeSync(descriptor, `${[...HEADING, ...keys].join("\n")}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return draft;
}

function syncFolder(file: string): void {
  const descriptor = openSync(join(file, ".."), "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
