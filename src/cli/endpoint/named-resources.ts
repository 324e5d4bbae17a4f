import type { Stores } from "../../app/stores.ts";
import { ADMIN_KEY_ID } from "../../core/accounts/principal.ts";
import type { AccountRecord, KeyRecord } from "../../core/accounts/records.ts";
import type { ProviderKeyRecord } from "../../core/provider-keys/records.ts";
import { type NameSource, resolveName } from "./resolve-name.ts";

/** What the help of a command says about arguments that `resolveName` reads. */
export const NAMED_BY = {
  account: "Account: ID, name, e-mail or external ID",
  user: "User: ID, name, e-mail or external ID",
  organization: "Organization: ID, name or external ID",
  key: "API key: ID or name",
  providerKey: "Provider key: ID or name",
} as const;

/** Resources with one name that are read. So many that the account with an e-mail is among those that have it as their name. */
const SAME_NAME = 1_000;
/** The newest accounts or keys whose names are suggested. */
const SUGGESTED_FROM = 5_000;

type Kind = AccountRecord["kind"];

/** Which account a command means. */
export interface WantedAccount {
  /** Absent for users and organizations. */
  readonly kind?: Kind;
  /** Which accounts are meant if several have the same name. Open ones by default. */
  readonly state?: "open" | "closed";
}

const LISTED_BY: Readonly<Record<Kind, string>> = {
  user: "gateway users list",
  organization: "gateway orgs list",
};

/** Returns the account that a text stands for. @throws Error, as `resolveName`. */
export function resolveAccount(
  { accounts }: Pick<Stores, "accounts">,
  text: string,
  { kind, state = "open" }: WantedAccount = {},
): Promise<AccountRecord> {
  const source: NameSource<AccountRecord> = {
    noun: kind ?? "account",
    listedBy: kind === undefined ? Object.values(LISTED_BY).join(" or ") : LISTED_BY[kind],
    async find(id) {
      const account = await accounts.findAccount(id);
      return kind === undefined || account?.kind === kind ? account : null;
    },
    findByText: (alias) => accounts.listAccounts({ kind, alias, limit: SAME_NAME }),
    listSome: () => accounts.listAccounts({ kind, limit: SUGGESTED_FROM }),
    describe: ({ id, name, email, externalId, closedAt, ...account }) => ({
      id,
      name,
      aliases: [email, externalId].filter((alias) => alias !== null),
      isPreferred: (closedAt === null) === (state === "open"),
      details: listDetails(account.kind, email, externalId, closedAt === null ? null : "closed"),
    }),
  };
  return resolveName(source, text);
}

/** Returns the API key that a text stands for. @throws Error, as `resolveName`. */
export function resolveKey({ keys }: Pick<Stores, "keys">, text: string): Promise<KeyRecord> {
  const source: NameSource<KeyRecord> = {
    noun: "API key",
    listedBy: "gateway keys list",
    find: (id) => keys.findKey(id),
    findByText: (name) => keys.listKeys({ name, limit: SAME_NAME }),
    listSome: () => keys.listKeys({ limit: SUGGESTED_FROM }),
    describe: ({ id, name, kind, accountId, hint, revokedAt }) => ({
      id,
      name,
      aliases: [],
      isPreferred: revokedAt === null,
      details: listDetails(kind, hint, `of ${accountId}`, revokedAt === null ? null : "revoked"),
    }),
  };
  return resolveName(source, text);
}

/** Returns the provider key of any account that a text stands for. @throws Error, as `resolveName`. */
export function resolveProviderKey(
  { providerKeys }: Pick<Stores, "providerKeys">,
  text: string,
): Promise<ProviderKeyRecord> {
  // Without a master key the store lists the keys of all accounts.
  const listSome = () => providerKeys.listSealedByOthers(null, null, SUGGESTED_FROM);
  const source: NameSource<ProviderKeyRecord> = {
    noun: "provider key",
    listedBy: "gateway provider-keys list",
    find: (id) => providerKeys.findProviderKey(id),
    findByText: async (wanted) =>
      (await listSome()).filter(({ name }) => name.toLowerCase() === wanted.toLowerCase()),
    listSome,
    describe: ({ id, name, provider, accountId, lastFour }) => ({
      id,
      name,
      aliases: [],
      isPreferred: true,
      details: listDetails(provider, `…${lastFour}`, `of ${accountId}`),
    }),
  };
  return resolveName(source, text);
}

/** The options of commands that restrict a list, as they are written. */
export interface ScopeOptions {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly user?: string | undefined;
}

/** Ids that restrict a list; null does not. */
export interface ResolvedScope {
  readonly accountId: string | null;
  readonly keyId: string | null;
  readonly userId: string | null;
}

/** Returns the ids that the options of a filter stand for. @throws Error, as `resolveName`. */
export async function resolveScope(
  stores: Pick<Stores, "accounts" | "keys">,
  { account, key, user }: ScopeOptions,
): Promise<ResolvedScope> {
  return {
    accountId: account === undefined ? null : (await resolveAccount(stores, account)).id,
    keyId: key === undefined ? null : await resolveKeyId(stores, key),
    userId: user === undefined ? null : (await resolveAccount(stores, user, { kind: "user" })).id,
  };
}

/** Requests with the configured admin key have an id of a key that is not stored. */
async function resolveKeyId(stores: Pick<Stores, "keys">, text: string): Promise<string> {
  return text === ADMIN_KEY_ID ? text : (await resolveKey(stores, text)).id;
}

function listDetails(...details: readonly (string | null)[]): string {
  return details.filter((detail) => detail !== null).join(", ");
}
