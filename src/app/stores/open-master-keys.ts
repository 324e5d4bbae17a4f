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
import type { Random } from "../../base/secrets/random.ts";
import {
  createMasterKey,
  type MasterKey,
  type MasterKeySource,
  readMasterKey,
} from "../../core/provider-keys/vault.ts";
import { PRIVATE_FILE } from "../../storage/files/private-files.ts";
import type { Config } from "../config/config-schema.ts";
import { ConfigError } from "../config/load-config.ts";

/** The file of generated master keys in the data directory. */
const FILE = "secrets.key";

/** The configured and generated master keys of a gateway. */
export interface MasterKeys extends MasterKeySource {
  /** The id of the first configured master key, which encrypts; null if none is configured and the newest generated key does. */
  readonly configuredId: string | null;
  /** The path of the file of generated keys. */
  readonly file: string;
  /** Generates a new key as the first one in the file. Of the other keys in the file, those with an id in `keep` are kept. */
  generate(keep: ReadonlySet<string>): MasterKey;
}

/** The configuration of master keys. */
export interface MasterKeyConfig extends Pick<Config, "secrets" | "admin_key" | "data_dir"> {
  /** The directory of generated keys, if it is not the data directory: processes on one port have the same keys. */
  readonly keys_dir?: string;
}

/**
 * Opens the master keys: the configured ones in their order, then the generated ones of the data directory. If there are none, one is
 * generated when the first secret is encrypted.
 * @throws ConfigError if one equals the management key, or the file is damaged.
 */
export function openMasterKeys(config: MasterKeyConfig, random: Random): MasterKeys {
  const file = join(config.keys_dir ?? config.data_dir, FILE);
  const configured = config.secrets.keys.map((text) => readMasterKey(text) as MasterKey);
  if (config.admin_key !== undefined && config.secrets.keys.includes(config.admin_key))
    throw new ConfigError("secrets.keys must not contain the management key; generate another key");
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
        createFile(file, createMasterKey(random));
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
    if (master === null)
      throw new ConfigError(`${file} has a line that is not a master key; restore the file`);
    return { text, master };
  });
}

const HEADING = [
  "# Master keys, which encrypt the BYOK keys of accounts. The first encrypts, all decrypt.",
  "# Without them those keys are lost. Keep a copy separate from the database.",
];

/** Creates the file, unless another process has just created it. */
function createFile(file: string, key: string): void {
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

/** Writes the keys to disk under a temporary name, before anything is encrypted with them. */
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
