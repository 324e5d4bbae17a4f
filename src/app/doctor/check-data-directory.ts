import { accessSync, constants, existsSync, lstatSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isDataDirLocked } from "../../storage/sqlite/connection/data-lock.ts";
import {
  type DatabaseFile,
  GATEWAY_FILE,
  RESPONSES_FILE,
  readDataDirSchema,
} from "../../storage/sqlite/connection/database.ts";
import { compareSchema } from "../../storage/sqlite/migrations/migrate.ts";
import { explainFormer, findFormerDataDir } from "../config/locate-data-dir.ts";
import { openMasterKeys } from "../stores/open-master-keys.ts";
import { type DoctorScene, type Finding, failure, ok, reportSharedSchema, warning } from "./finding.ts";

const MEGABYTE = 1_000_000;
/** Below it, writes fail soon. */
const MIN_FREE_BYTES = 100 * MEGABYTE;
/** The free space that a journal and a day of records may need. */
const USUAL_FREE_BYTES = 1_000 * MEGABYTE;
/** The permissions of all users but the owner. */
const OTHERS = 0o077;

/** Checks that the data directory can be used, or created. */
export function checkDataDirectory({ config }: DoctorScene): readonly Finding[] {
  const former = findFormerDataDir(config);
  if (former !== null) return [failure(explainFormer(config, former), "Until then a start fails.")];
  const folder = resolve(config.data_dir);
  const existing = findExisting(folder);
  if (!isWritable(existing))
    return [failure(`${existing} is not writable`, "Give the gateway's user the right to write there.")];
  const found = existsSync(folder)
    ? [ok(`${folder} exists and is writable`), ...checkPermissions(folder), ...checkLock(folder)]
    : [
        warning(
          `${folder} does not exist`,
          "The first start creates it. Is GATEWAY_DATA_DIR or data_dir right?",
        ),
      ];
  return [...found, checkSpace(existing)];
}

/** Returns the nearest existing folder, in which a missing one would be created. */
function findExisting(folder: string): string {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function checkPermissions(folder: string): readonly Finding[] {
  if ((lstatSync(folder).mode & OTHERS) === 0) return [];
  return [
    warning("other users can read it", `The next start makes it private, or run: chmod -R go= ${folder}`),
  ];
}

function checkLock(folder: string): readonly Finding[] {
  return isDataDirLocked(folder) ? [ok("a gateway is running on it")] : [ok("no gateway is running on it")];
}

function checkSpace(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${Math.floor(free / MEGABYTE)} MB are free on its disk`;
  if (free < MIN_FREE_BYTES) return failure(text, "Free space: without it, requests are answered with 503.");
  return free < USUAL_FREE_BYTES ? warning(text, "Free space soon.") : ok(text);
}

/** Checks that this version can use the embedded databases. */
export function checkDatabaseFile({ config: { data_dir, database } }: DoctorScene): readonly Finding[] {
  if (database.url !== undefined) return [];
  const main = checkFile(data_dir, GATEWAY_FILE);
  if (main === null) return [ok("there is none yet; the first start creates it")];
  const responses = checkFile(data_dir, RESPONSES_FILE);
  if (responses === null || responses.status === "ok") return [main];
  return [main, { ...responses, text: `${RESPONSES_FILE.name}: ${responses.text}` }];
}

/** Returns null if there is no such file. */
function checkFile(dataDir: string, file: DatabaseFile): Finding | null {
  const found = readDataDirSchema(dataDir, file);
  if (found === null) return null;
  const { version } = found;
  const known = file.steps.length;
  switch (compareSchema(found, known)) {
    case "incompatible":
      return failure(
        `a newer version of the gateway has written it (schema ${version})`,
        "Install that version.",
      );
    case "newer":
      return reportSharedSchema(version, known);
    case "older":
      return warning(
        `it has schema ${version} of ${known}`,
        "The next start migrates it. Keep a copy of it first.",
      );
    case "same":
      return ok(`it has schema ${version}, as this version needs`);
  }
}

/** Checks the master keys, without which BYOK keys are lost. */
export function checkMasterKey({ config, random }: DoctorScene): readonly Finding[] {
  const masters = openMasterKeys(config, random);
  if (masters.configuredId !== null) return [ok(`${config.secrets.keys.length} configured`)];
  if (config.database.url !== undefined)
    return [
      warning(
        "none is configured, and gateways on one database need the same",
        "Set GATEWAY_SECRETS_KEY to the output of: openssl rand -base64 32",
      ),
    ];
  return masters.list().length > 0
    ? [ok(`generated, in ${masters.file}; keep a copy of it`)]
    : [ok("none yet; one is generated when it is first needed")];
}
