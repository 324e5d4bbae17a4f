import type { PromptCaching } from "../../../wire/conversation/preferences.ts";
import type { KEY_SETTINGS } from "../fields/key-fields.ts";
import type { KeyRateLimit, RateLimit } from "../fields/rate-limit.ts";
import type { Shown } from "../fields/resource-fields.ts";
import type { BudgetRecord } from "./budget-records.ts";
import type { Role } from "./rights.ts";

/** A stored API key, without its secret. `KEY_SETTINGS` declares the fields that can be changed. */
export interface KeyRecord extends Shown<typeof KEY_SETTINGS> {
  readonly id: string;
  /** Inference keys call models; management keys call the management API. */
  readonly kind: "inference" | "management";
  /** The account that owns the key and pays for its use: a user or an organization. */
  readonly accountId: string;
  /** The user whose key it is; null for an organization's service key and for the operator's keys. */
  readonly userId: string | null;
  /** The team of the organization that the key belongs to; null for none. */
  readonly teamId: string | null;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  /** The first and last characters of the secret, to tell keys apart. */
  readonly hint: string;
  /** When the secret was made, if it is not the first one; null otherwise. Milliseconds since the epoch. */
  readonly rotatedAt: number | null;
  /** The secret before the last rotation: its hash, hint and hour of last use, and until when it is valid. All null if there is none. */
  readonly previousHash: string | null;
  readonly previousHint: string | null;
  readonly previousUntil: number | null;
  readonly previousUsedAt: number | null;
  /** The key's own rate limit. For null, and for members that are null, the configured limit applies. */
  readonly rateLimit: KeyRateLimit | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** The beginning of the hour in which the key was used last; null if it was never used. */
  readonly lastUsedAt: number | null;
}

/** An account that pays for requests: a user, or an organization of users. */
export interface AccountRecord {
  /** `user_…` or `org_…`; `acct_default` for the operator account. */
  readonly id: string;
  readonly kind: "user" | "organization";
  readonly name: string;
  /** The e-mail address of a user, in lower case; null if it is not known, and for organizations. */
  readonly email: string | null;
  /** The operator's own id of the account; null: none. */
  readonly externalId: string | null;
  /** Nanodollars by which the balance may fall below zero; null for no bound, as for the operator account by default. */
  readonly overdraft: number | null;
  /** For an organization: nanodollars that all members together may spend in a calendar month (UTC); null for no limit. */
  readonly monthlyLimit: number | null;
  readonly policy: Policy;
  /** Replaces the configured rate limit. For null, and for members that are null, the configured limit applies. */
  readonly rateLimit: RateLimit | null;
  /** The operator's name for a group of accounts with the same prices; null for no plan. */
  readonly plan: string | null;
  /** Seconds for which bodies, and answers, of keys without a value of their own are kept; null: they are not. */
  readonly promptLog: number | null;
  readonly cache: number | null;
  /** Tags of all requests, in addition to their own; null for none. */
  readonly tags: readonly string[] | null;
  /** Within what bounds members of an organization make keys of their own; null: they may not. */
  readonly memberKeys: MemberKeys | null;
  readonly createdAt: number;
  /** A closed account cannot make requests; its ledger remains. */
  readonly closedAt: number | null;
}

/** The bounds of the keys that members make for themselves. */
export interface MemberKeys {
  /** The number of valid keys of one member; null for no bound. */
  readonly count: number | null;
  /** The longest life in days; null: keys need not expire. */
  readonly days: number | null;
  /** The largest spending limit, in nanodollars a month; null: keys need none. */
  readonly spendLimit: number | null;
}

/** The bounds of an organization whose members make no keys. */
export const NO_MEMBER_KEYS: MemberKeys = { count: 0, days: null, spendLimit: null };

/** An account with its budgets and teams. */
export interface SpendingAccount extends AccountRecord {
  /** Absent: it has none. */
  readonly budgets?: readonly BudgetRecord[] | undefined;
  /** The teams of an organization that are not deleted, by their ids. Absent: it has none. */
  readonly teams?: ReadonlyMap<string, TeamRecord> | undefined;
}

/** A group inside an organization, whose keys have a policy and limits of their own. The organization pays. */
export interface TeamRecord {
  /** `team_…` */
  readonly id: string;
  readonly organizationId: string;
  /** Unique among the organization's teams, regardless of case. */
  readonly name: string;
  readonly policy: Policy;
  /** The rate limit of all keys of the team together; null for none. */
  readonly rateLimit: RateLimit | null;
  /** Seconds for which bodies, and answers, of keys without a value of their own are kept; null: as the organization says, 0: not. */
  readonly promptLog: number | null;
  readonly cache: number | null;
  /** Tags of all requests of the team, in addition to their own; null for none. */
  readonly tags: readonly string[] | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The keys of a deleted team are revoked; its usage remains. */
  readonly deletedAt: number | null;
}

/**
 * Where a membership comes from, which alone ends it: it was made by hand, an invitation was accepted, or rules of OpenID Connect gave it.
 */
export const MEMBER_SOURCES = ["manual", "invitation", "oidc"] as const;
export type MemberSource = (typeof MEMBER_SOURCES)[number];

/** A user's membership in a team of an organization. */
export interface TeamMemberRecord {
  readonly teamId: string;
  readonly organizationId: string;
  readonly userId: string;
  /** Whether the member manages the team. */
  readonly isLead: boolean;
  readonly source: MemberSource;
  readonly createdAt: number;
}

/** The names of plans. */
export const PLAN_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The models and providers that the keys of an account may use. `*` in a pattern matches any characters. */
export interface Policy {
  /** Null for all. */
  readonly allowedModels: readonly string[] | null;
  readonly deniedModels: readonly string[];
  /** Slugs; null for all. */
  readonly allowedProviders: readonly string[] | null;
  readonly deniedProviders: readonly string[];
  /** Use only providers that do not train on request data. */
  readonly denyDataCollection: boolean;
  /** Use only providers that do not retain request data. */
  readonly zeroRetention: boolean;
  /** Use only the account's own provider keys (BYOK), never the gateway's platform keys. */
  readonly ownKeysOnly: boolean;
  /** Whether the gateway marks prompts for vendors' caches. Records of earlier versions lack it, which counts as `auto`. */
  readonly promptCaching: PromptCaching;
}

/** The policy that allows everything. */
export const OPEN_POLICY: Policy = {
  allowedModels: null,
  deniedModels: [],
  allowedProviders: null,
  deniedProviders: [],
  denyDataCollection: false,
  zeroRetention: false,
  ownKeysOnly: false,
  promptCaching: "auto",
};

/** A user's membership in an organization. */
export interface MemberRecord {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  /** Nanodollars that the member may spend of the organization's balance in a day (UTC); null for no limit. */
  readonly dailyLimit: number | null;
  /** Null for a membership that a version before sources has stored. */
  readonly source: MemberSource | null;
  readonly createdAt: number;
}

/** A member with their teams. */
export interface ActingMember extends MemberRecord {
  /** Absent: none. */
  readonly teams?: readonly TeamMemberRecord[] | undefined;
}

/** The fields of a key whose secret is the first one. */
export const FIRST_SECRET = {
  rotatedAt: null,
  previousHash: null,
  previousHint: null,
  previousUntil: null,
  previousUsedAt: null,
} as const satisfies Partial<KeyRecord>;

/** The fields of an account that sets nothing for its keys. */
export const NO_KEY_DEFAULTS = {
  promptLog: null,
  cache: null,
  tags: null,
  memberKeys: null,
} as const satisfies Partial<AccountRecord>;

/** The operator account. It exists from the first start and has no bound on its overdraft. */
export const DEFAULT_ACCOUNT_ID = "acct_default";
