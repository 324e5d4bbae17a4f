import type { PinnedSetting } from "../gateways/gateway-config.ts";
import type { Serving } from "../generation/call/call.ts";
import type { ConfigChange } from "../settings/config-reload.ts";
import type {
  ConfigDocument,
  ConfigRevision,
  ConfigSecret,
  ConfigValue,
  RevisionHead,
} from "./config-store.ts";

/** Sets what is stored at a path, or removes it. */
export interface ConfigEdit {
  /** Entries of lists stand by their ids: `["providers", "mine", "models", "author/model"]`. */
  readonly path: readonly string[];
  /** Absent: the stored settings at the path and below are removed. */
  readonly value?: ConfigValue;
}

/** A secret with its value, to add or to replace. */
export interface NewSecret {
  readonly id: string;
  readonly value: string;
}

/** A change of the stored configuration. */
export interface ConfigWrite {
  /** The revision that the author has seen; null if it does not matter. */
  readonly from: number | null;
  /** Edits of some settings, or another document instead of the stored one. */
  readonly change: readonly ConfigEdit[] | ConfigDocument;
  readonly secrets: readonly NewSecret[];
  /** Whether the change is only checked. */
  readonly dryRun: boolean;
  /** The id of the credential that makes the change. */
  readonly by: string;
  /**
   * Whether a person makes it in the console. A change of the sign-in then needs a trial sign-in, because it could lock all people out. A
   * management key is no session and can undo it.
   */
  readonly isInConsole: boolean;
}

/** The result of a change. */
export interface ConfigWritten {
  /** The revision in which the change is; the former one if nothing was stored. */
  readonly revision: number;
  /** How the settings in force change. Secrets are masked. */
  readonly changes: readonly ConfigChange[];
  /** Whether the change is stored. */
  readonly isStored: boolean;
}

/** What is stored, and what takes precedence over it. */
export interface StoredSettings {
  /** Null if nothing was ever stored. */
  readonly latest: ConfigRevision | null;
  readonly secrets: readonly ConfigSecret[];
  /** The settings of the file and the environment of this gateway and of other live ones. */
  readonly pinned: readonly PinnedSetting[];
}

/** A configuration as one document, for a file or another gateway. */
export interface ExportedConfig {
  readonly document: ConfigDocument;
  /** The ids of the secrets that the document refers to. */
  readonly secrets: readonly string[];
  /** The settings that belong to the machine and are not in the document. */
  readonly leftOut: readonly string[];
}

/** What a guardrail does to a text. */
export interface GuardrailTrial {
  readonly action: "none" | "block" | "mask" | "warn" | "unchecked" | "unavailable";
  /** The kinds of the matches, such as `EMAIL`. */
  readonly kinds: readonly string[];
  /** Why a service blocks; null if it gave no reason. */
  readonly reason: string | null;
  /** The text as the provider would get it. */
  readonly text: string;
}

/** Reads and changes the stored configuration. Every gateway applies a change within a second. */
export interface ConfigManager {
  read(): Promise<StoredSettings>;
  /** Returns up to `limit` revisions before `before`, the latest first. */
  listRevisions(before: number | null, limit: number): Promise<readonly RevisionHead[]>;
  /** Returns the latest kept revision that has changed each setting; null where none is kept. */
  findChanges(paths: readonly (readonly string[])[]): Promise<readonly (RevisionHead | null)[]>;
  /** Returns a kept revision; null if there is none with that number. */
  findRevision(revision: number): Promise<ConfigRevision | null>;
  /**
   * Returns the models that would be served after edits, which are neither stored nor applied. Needs a running gateway.
   * @throws GatewayError as `write`.
   */
  tryEdits(edits: readonly ConfigEdit[]): Promise<Serving>;
  /** Checks a text with a guardrail, which is neither stored nor applied. @throws GatewayError as `write`. */
  tryGuardrail(guardrail: ConfigValue, text: string): Promise<GuardrailTrial>;
  /** Returns the whole configuration of this gateway: what is stored, and what its file and environment set. */
  exportAll(): Promise<ExportedConfig>;
  /**
   * Makes a change whole or not at all. Secrets in it are encrypted, and replaced by references.
   * @throws GatewayError `invalid_request` with all problems of the resulting configuration; `conflict` if another revision is the latest,
   * or if the file or a variable of a gateway sets one of the settings.
   */
  write(write: ConfigWrite): Promise<ConfigWritten>;
  /**
   * Deletes a secret.
   * @throws GatewayError `not_found`; `conflict` if a setting refers to it.
   */
  removeSecret(id: string, by: string): Promise<void>;
}
