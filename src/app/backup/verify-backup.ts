import { Database } from "bun:sqlite";
import { join, resolve } from "node:path";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { MasterKey } from "../../core/provider-keys/vault.ts";
import { type DatabaseFile, GATEWAY_FILE, RESPONSES_FILE } from "../../storage/sqlite/connection/database.ts";
import type { NamedFinding } from "../doctor/examine-installation.ts";
import { type Finding, failure, ok } from "../doctor/finding.ts";
import { openSqliteStores } from "../stores/open-sqlite-stores.ts";
import { BACKUP_CHECKS } from "./backup-checks.ts";
import { type BackupManifest, readManifest } from "./manifest.ts";
import { restoreBackup } from "./restore-backup.ts";

/** The backup to verify. */
interface VerifyRequest {
  readonly backup: string;
  /** A folder that does not exist yet, in which the backup is restored for the checks. The caller removes it. */
  readonly dataDir: string;
  /** Returns the master keys of a data directory, and those configured elsewhere. */
  readonly listMasterKeys: (dataDir: string) => readonly MasterKey[];
  readonly clock: Clock;
  readonly random: Random;
}

/** The result of verifying a backup. */
interface BackupVerdict {
  readonly manifest: BackupManifest;
  readonly findings: readonly NamedFinding[];
}

/**
 * Verifies a backup: restores it to a temporary data directory with the tables of this version, and checks that. The backup itself is only
 * read.
 * @throws Error if the folder is not a backup that this version can read, or the disk of `dataDir` is full.
 */
export async function verifyBackup(request: VerifyRequest): Promise<BackupVerdict> {
  const backup = resolve(request.backup);
  const manifest = readManifest(backup);
  const restored = await tryToRestore(backup, request.dataDir);
  const findings: NamedFinding[] = [{ check: "files", ...restored }];
  if (restored.status !== "failure") findings.push(...(await checkRestored(manifest, request)));
  return { manifest, findings };
}

/** Errors about the folder in which a backup is restored for the checks. They say nothing about the backup itself. */
const WORK_FOLDER_ERRORS = /^(ENOSPC|EDQUOT|EFBIG|EROFS)$/;

async function tryToRestore(backup: string, dataDir: string): Promise<Finding> {
  try {
    const { files } = await restoreBackup({ backup, dataDir });
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return ok(`${files.length} files, ${bytes} bytes, are those of the manifest`);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (WORK_FOLDER_ERRORS.test(code))
      throw new Error(
        `the backup was not checked, because it cannot be restored: ${message}. Choose another folder with --work-dir.`,
      );
    return failure(message, "Do not rely on this backup. Make a new one.");
  }
}

async function checkRestored(
  manifest: BackupManifest,
  { dataDir, clock, random, listMasterKeys }: VerifyRequest,
): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = [];
  const stores = openSqliteStores({ data_dir: dataDir }, { clock, random });
  const open = ({ name }: DatabaseFile) => new Database(join(dataDir, name), { readonly: true });
  const [database, responses] = [open(GATEWAY_FILE), open(RESPONSES_FILE)];
  try {
    const restored = { manifest, database, responses, stores, masterKeys: listMasterKeys(dataDir) };
    for (const { name, run } of BACKUP_CHECKS)
      for (const finding of await run(restored)) findings.push({ check: name, ...finding });
  } catch (error) {
    const remedy = "Do not rely on this backup. Make a new one.";
    findings.push({ check: "database", ...failure((error as Error).message, remedy) });
  } finally {
    database.close();
    responses.close();
    await stores.close();
  }
  return findings;
}
