import type { PromptCaching } from "../../../wire/conversation/preferences.ts";
import type { KEY_SETTINGS } from "../fields/key-fields.ts";
import type { KeyRateLimit, RateLimit } from "../fields/rate-limit.ts";
import type { Shown } from "../fields/resource-fields.ts";
import type { BudgetRecord } from "./budget-records.ts";

/** A stored API key, without its secret. `KEY_SETTINGS` declares the fields that can be changed. */
export interface KeyRecord extends Shown<typeof KEY_SETTINGS> {
  readonly id: string;
  /** Inference keys call models; management keys call the management API. */
  readonly kind: "inference" | "management";
  /** The account that owns the key and pays for its use: a user or an organization. */
  readonly accountId: string;
  /** The user whose key it is; null for an organization's service key and for the operator's keys. */
  readonly userId: string | null;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  /** The first and last characters of the secret, to tell keys apart. */
  readonly hint: string;
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
  readonly createdAt: number;
  /** A closed account cannot make requests; its ledger remains. */
  readonly closedAt: number | null;
}

/** An account with its budgets. */
export interface SpendingAccount extends AccountRecord {
  /** Absent: it has none. */
  readonly budgets?: readonly BudgetRecord[] | undefined;
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

/** The roles in an organization, highest first: `owner` and `admin` manage, `billing` reads balance and usage, `member` calls models. */
export const ROLES = ["owner", "admin", "billing", "member"] as const;
export type Role = (typeof ROLES)[number];

/** A user's membership in an organization. */
export interface MemberRecord {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  /** Nanodollars that the member may spend of the organization's balance in a day (UTC); null for no limit. */
  readonly dailyLimit: number | null;
  readonly createdAt: number;
}

/** The operator account. It exists from the first start and has no bound on its overdraft. */
export const DEFAULT_ACCOUNT_ID = "acct_default";
