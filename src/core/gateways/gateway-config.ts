/** A setting that the file or a variable of a gateway sets, so that a stored one has no effect there. */
export interface PinnedSetting {
  /** Entries of lists stand by their ids: `["providers", "mine", "models", "author/model"]`. */
  readonly path: readonly string[];
  /** The configuration file and its line; null if a variable sets it. */
  readonly file: string | null;
  readonly line: number | null;
  readonly variable: string | null;
  /** The gateway that has the file; null for the one that answers. */
  readonly gateway: string | null;
  /** A digest of the value, by which an equal one is recognized. */
  readonly digest: string;
}

/** What a gateway reports of its configuration to the others on its database. */
export interface GatewayConfig {
  /** A digest of its file and its variables: equal at gateways with the same ones. */
  readonly fileDigest: string;
  /** The revision of the stored configuration in force; 0 for none. */
  readonly revision: number;
  /** Why the latest revision is not in force; null if it is. */
  readonly problem: string | null;
  /** The settings that it takes from its file and variables. */
  readonly pinned: readonly Omit<PinnedSetting, "gateway">[];
}
