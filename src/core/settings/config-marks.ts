/** Marks of settings in the schema of the configuration. JSON Schema, which forms are generated from, has them too. */

/** A setting whose new value is in force only after a restart. A reload applies all others. */
export const NEEDS_RESTART = "needsRestart";

/**
 * A setting that only the configuration file or the environment can have: it is read before the stores are open, or it names a file of the
 * gateway's machine.
 */
export const FILE_ONLY = "fileOnly";

/** A text that is a secret. The management API stores it encrypted, and a reference to it in the document. */
export const SECRET = "secret";

/**
 * A setting whose entries are set one by one: a list whose entries the named member identifies, a map whose entries have names ("key"), or
 * a map whose entries are sections ("section").
 */
export const ENTRIES = "entriesBy";
