import type { RateLimit } from "./rate-limit.ts";

/** An API key as stored: its secret is not among it. */
export interface KeyRecord {
  readonly id: string;
  /** Inference keys call models; management keys manage and never infer. */
  readonly kind: "inference" | "management";
  /** Whose account pays: the user's, or the organization's whose key it is. */
  readonly accountId: string;
  /** The user who made it and uses it; null for an organization's service key, and for the operator's keys. */
  readonly userId: string | null;
  readonly name: string;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  /** The secret's first and last characters, to tell keys apart by. */
  readonly hint: string;
  /** What may be spent through it in all, nanodollars; null: as much as the account has. */
  readonly spendLimit: number | null;
  /** Patterns of the models it may call, `*` for any characters; null: all. */
  readonly models: readonly string[] | null;
  /** Of its own; null, and members that are null: as configured. */
  readonly rateLimit: KeyRateLimit | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** A key's own limit. The operator's stands in place of what is configured; its account's can only tighten that. */
export interface KeyRateLimit extends RateLimit {
  readonly setBy: "operator" | "account";
}

/** Who pays: a user, or an organization of users. */
export interface AccountRecord {
  /** `user_…` or `org_…`; `acct_default` for the operator's own. */
  readonly id: string;
  readonly kind: "user" | "organization";
  readonly name: string;
  /**
   * How far below zero its balance may go, nanodollars; null: as far as it likes, which is how the operator's own account
   * works without anybody selling credits.
   */
  readonly overdraft: number | null;
  /** Of an organization: what all its members may spend in a calendar month (UTC), nanodollars; null: no limit. */
  readonly monthlyLimit: number | null;
  readonly policy: Policy;
  /** In place of what is configured; null, and members that are null: as configured. */
  readonly rateLimit: RateLimit | null;
  readonly createdAt: number;
  /** A closed account calls nothing and keeps its ledger. */
  readonly closedAt: number | null;
}

/** What members of an organization, or keys of a user, may use. Patterns take `*` for any characters. */
export interface Policy {
  /** Null: all. */
  readonly allowedModels: readonly string[] | null;
  readonly deniedModels: readonly string[];
  /** Slugs. Null: all. */
  readonly allowedProviders: readonly string[] | null;
  readonly deniedProviders: readonly string[];
  /** Only providers that do not train on what they are sent. */
  readonly denyDataCollection: boolean;
  /** Only providers that keep nothing. */
  readonly zeroRetention: boolean;
  /** Only with the account's own keys at providers, never with the gateway's. */
  readonly ownKeysOnly: boolean;
}

/** Everything is allowed. */
export const OPEN_POLICY: Policy = {
  allowedModels: null,
  deniedModels: [],
  allowedProviders: null,
  deniedProviders: [],
  denyDataCollection: false,
  zeroRetention: false,
  ownKeysOnly: false,
};

/** `owner` and `admin` manage; `billing` sees and buys; `member` calls models. */
export const ROLES = ["owner", "admin", "billing", "member"] as const;
export type Role = (typeof ROLES)[number];

/** A user in an organization. */
export interface MemberRecord {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  /** What they may spend of the organization's money in a day (UTC), nanodollars; null: no limit. */
  readonly dailyLimit: number | null;
  readonly createdAt: number;
}

/** The operator's own account: it exists from the first start and its balance may go as low as it likes. */
export const DEFAULT_ACCOUNT_ID = "acct_default";
