import type { ConfigDocument } from "../../core/stored-config/config-store.ts";
import type { ConfigPath, ConfigPlace, ConfigProblem } from "./config-error.ts";
import type { ReferringValue } from "./expand-references.ts";
import type { SettingEntry } from "./setting-paths.ts";

/** A configuration file that was read: what is written in it, whether or not it is valid. */
export interface FileConfig {
  /** The name of the file, which may not exist. */
  readonly file: string;
  /** Its content as written, without sections that have no value. */
  readonly raw: ConfigDocument;
  /** The same with its references expanded. */
  readonly written: ConfigDocument;
  /** The values that had references. */
  readonly referring: readonly ReferringValue[];
  /** The references that could not be expanded. */
  readonly problems: readonly ConfigProblem[];
  /** Returns where a path is written in the file, or its longest prefix that exists. */
  readonly placeOf: (path: ConfigPath) => ConfigPlace;
}

/** The configuration that the management API has stored, with its secrets decrypted. */
export interface StoredConfig {
  readonly revision: number;
  readonly document: ConfigDocument;
  /** Its settings, with references to secrets expanded. */
  readonly settings: readonly SettingEntry[];
  /** The values that had references. Their paths have the ids of entries instead of positions. */
  readonly referring: readonly ReferringValue[];
  /** The secrets that are missing or cannot be decrypted. */
  readonly problems: readonly ConfigProblem[];
}
