import { existsSync, mkdtempSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { findNewestBackup, prepareFolder, removeOldBackups } from "../../app/backup/backup-folder.ts";
import { createBackup } from "../../app/backup/create-backup.ts";
import { type BackupManifest, MASTER_KEY_FILE } from "../../app/backup/manifest.ts";
import { partialOf } from "../../app/backup/partial-backup.ts";
import { restoreBackup } from "../../app/backup/restore-backup.ts";
import { verifyBackup } from "../../app/backup/verify-backup.ts";
import type { Config } from "../../app/config/config-schema.ts";
import { loadConfig } from "../../app/config/load-config.ts";
import { openMasterKeys } from "../../app/stores/open-master-keys.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { MasterKey } from "../../core/provider-keys/vault.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";
import { formatFindings } from "../render/format-findings.ts";
import { print, tell } from "../render/print.ts";
import { removeAtEnd } from "./remove-at-end.ts";

interface CreateOptions extends JsonOption {
  readonly includeMasterKey?: true;
  readonly keep?: number;
}

interface VerifyOptions extends JsonOption {
  readonly workDir?: string;
}

interface RestoreOptions extends JsonOption {
  readonly dataDir?: string;
}

/** `gateway backup create`, `verify` and `restore`: consistent copies of a data directory. */
export function declareBackupCommands(backup: Command): void {
  addCreateCommand(backup);
  addJsonOption(
    backup
      .command("verify")
      .description(
        "Restore a backup to a temporary folder and verify it: hashes, database, ledger, sums of usage, audit log, decryption of provider keys. Exits with 1 on a failure",
      )
      .argument("<backup>", "Folder of a backup, or a folder with backups, whose newest one is verified")
      .option("--work-dir <folder>", "Where to restore it. Defaults to the folder that contains the backup"),
  ).action(verify);
  addJsonOption(
    backup
      .command("restore")
      .description(
        "Create a data directory from a backup. The directory must be empty or missing. Its gateway gets a new id",
      )
      .argument("<backup>", "Folder of the backup")
      .option("--data-dir <folder>", "Where to restore it. Defaults to data_dir"),
  ).action(restore);
}

function addCreateCommand(backup: Command): void {
  const command = backup
    .command("create")
    .description("Copy data_dir to a new folder. The gateway may be running")
    .argument("<target>", "Existing folder, in which the backup is named by the time; or a new folder")
    .option(
      "--include-master-key",
      "Also copy generated master keys, so that the backup can decrypt its BYOK keys",
    )
    .option("--keep <number>", "Number of backups to keep in the folder; then removes older ones", readKeep);
  addExamples(addJsonOption(command), [
    "gateway backup create /var/backups/gateway --keep 7",
    "gateway backup create ./before-the-upgrade",
  ]).action(create);
}

function readKeep(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError("It must be a whole number from 1.");
}

async function create(target: string, options: CreateOptions): Promise<void> {
  const config = loadConfig(process.env);
  requireSqlite(config);
  const isFolder = existsSync(target) && statSync(target).isDirectory();
  if (options.keep !== undefined && !isFolder)
    throw new Error(`--keep needs a folder of backups that exists, and ${target} does not.`);
  const path = isFolder ? prepareFolder(target, systemClock.now()) : target;
  const request = {
    dataDir: config.data_dir,
    target: path,
    includeMasterKeys: options.includeMasterKey === true,
    onProgress: tellProgress,
  };
  const manifest = await removeAtEnd(partialOf(path), () => createBackup(request, systemClock));
  const removed = options.keep === undefined ? [] : removeOldBackups(target, options.keep);
  print(
    options.json
      ? JSON.stringify({ data: { path, removed, ...manifest } })
      : formatCreated({ path, manifest, removed }, config),
  );
}

/** @throws Error that says how to back up PostgreSQL. */
function requireSqlite({ database: { url } }: Config): void {
  if (url === undefined) return;
  throw new Error(
    "database.url is set: back up PostgreSQL with its tools, such as pg_dump (docs/operations/backup.md). This command copies data directories with SQLite.",
  );
}

const MEGABYTE = 1_000_000;

function tellProgress(written: number, whole: number): void {
  tell(`${toMegabytes(written)} of ${toMegabytes(whole)} MB`);
}

function toMegabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

interface Created {
  readonly path: string;
  readonly manifest: BackupManifest;
  readonly removed: readonly string[];
}

function formatCreated({ path, manifest, removed }: Created, config: Config): string {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const counts = Object.entries(manifest.rows).map(
    ([table, rows]) => `${rows} ${table.replaceAll("_", " ")}`,
  );
  return [
    `Backup: ${path}`,
    `  ${toMegabytes(bytes)} MB, schema ${manifest.schema_version}, of ${manifest.created_at}`,
    `  ${counts.join(", ")}`,
    `  The last ${manifest.journal_records} records are from the journal.`,
    ...describeMasterKeys(manifest, config).map((line) => `  ${line}`),
    "  The configuration file is not in it.",
    ...removed.map((name) => `  Removed ${name}`),
    `Prove it: gateway backup verify ${path}`,
  ].join("\n");
}

function describeMasterKeys(
  { includes_master_keys }: BackupManifest,
  { secrets, data_dir }: Config,
): readonly string[] {
  if (includes_master_keys) return ["Generated master keys are in it: keep it as secret as they are."];
  if (secrets.keys.length > 0) return ["The configured master keys are not in it: keep a copy of them."];
  const file = join(data_dir, MASTER_KEY_FILE);
  return existsSync(file) ? [`Master keys are not in it: keep a copy of ${file} elsewhere.`] : [];
}

async function verify(given: string, { json, workDir }: VerifyOptions): Promise<void> {
  const backup = findNewestBackup(given);
  const config = loadConfig(process.env);
  const random = createSystemRandom();
  const listMasterKeys = (dataDir: string): readonly MasterKey[] => [
    ...openMasterKeys(config, random).list(),
    ...openMasterKeys({ ...config, keys_dir: dataDir }, random).list(),
  ];
  const folder = makeWorkFolder(workDir ?? dirname(resolve(backup)));
  const request = {
    backup,
    dataDir: join(folder, "data"),
    listMasterKeys,
    clock: systemClock,
    random,
  };
  const { manifest, findings } = await removeAtEnd(folder, () => verifyBackup(request));
  if (findings.some(({ status }) => status === "failure")) process.exitCode = EXIT_CODES.failed;
  const { created_at, gateway_version } = manifest;
  print(
    json
      ? JSON.stringify({ data: { path: backup, created_at, gateway_version, findings } })
      : `${backup}: of ${created_at}, made by version ${gateway_version}\n${formatFindings(findings)}`,
  );
}

/** @throws Error that names the option for another folder. */
function makeWorkFolder(parent: string): string {
  try {
    return mkdtempSync(join(parent, "gateway-verify-"));
  } catch (error) {
    throw new Error(
      `the backup cannot be restored in ${parent} for the checks: ${(error as Error).message}. Choose another folder with --work-dir.`,
    );
  }
}

async function restore(backup: string, { json, dataDir }: RestoreOptions): Promise<void> {
  const config = loadConfig(process.env);
  const target = dataDir ?? config.data_dir;
  const { created_at, rows, includes_master_keys } = await restoreBackup({ backup, dataDir: target });
  if (json) {
    print(JSON.stringify({ data: { data_dir: target, created_at, rows, includes_master_keys } }));
    return;
  }
  const hasKeys = includes_master_keys || config.secrets.keys.length > 0;
  const keys =
    hasKeys || rows["provider_keys"] === 0
      ? []
      : [
          `Put the master keys into ${join(target, MASTER_KEY_FILE)} or GATEWAY_SECRETS_KEY before the start.`,
        ];
  print(
    [
      `${target} has the data of ${created_at}. The next start makes it a gateway of its own.`,
      ...keys,
      "Do not start it beside the gateway that was backed up: both would spend the same balances.",
    ].join("\n"),
  );
}
