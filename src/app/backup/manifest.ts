import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** The file of a backup that describes it. It is written last. */
export const MANIFEST_FILE = "manifest.json";
/** The database of a backup, and of a data directory. */
export const DATABASE_FILE = "gateway.db";
/** Generated master keys in a data directory, and in a backup that includes them. */
export const MASTER_KEY_FILE = "secrets.key";
/** The folder of journal entries that are not in the database: those of another version, and damaged ones. */
export const JOURNAL_FOLDER = "journal";

/** The format that this version writes and reads. */
export const BACKUP_FORMAT = 1;

/** A path inside the backup, with `/`. */
const FileName = z.string().regex(/^(journal\/)?[\w-][\w.-]*$/);

const ManifestSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** When the copy began: every record that was settled before is in it. RFC 3339. */
  created_at: z.string(),
  gateway_version: z.string(),
  /** The version of the database's tables. */
  schema_version: z.int().positive(),
  /** The lowest schema version whose code works on the database; absent if only its own does. */
  oldest_schema_version: z.int().positive().exactOptional(),
  /** The same of the tables of response objects; absent if the backup has none. */
  responses_schema_version: z.int().positive().exactOptional(),
  oldest_responses_schema_version: z.int().positive().exactOptional(),
  /** Where it was made: the path of the data directory. */
  data_dir: z.string(),
  /** Records of the journal. They are in the database of the backup. */
  journal_records: z.int().nonnegative(),
  includes_master_keys: z.boolean(),
  /** Rows of the most important tables. */
  rows: z.record(z.string(), z.int().nonnegative()),
  files: z.array(
    z.object({ name: FileName, bytes: z.int().nonnegative(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

/** The description of a backup. */
export type BackupManifest = z.infer<typeof ManifestSchema>;

/** Reads the manifest of a backup. @throws Error if the folder is not a backup, or has a format that this version cannot read. */
export function readManifest(backup: string): BackupManifest {
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(join(backup, MANIFEST_FILE), "utf8"));
  } catch (error) {
    throw new Error(
      `${backup} is not a backup, because its ${MANIFEST_FILE} cannot be read: ${(error as Error).message}`,
    );
  }
  const { success, data, error } = ManifestSchema.safeParse(found);
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(
    `this version cannot read ${join(backup, MANIFEST_FILE)}: ${issue?.path.join(".") || "it"}: ${issue?.message}`,
  );
}
