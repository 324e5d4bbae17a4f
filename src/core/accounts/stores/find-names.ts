import type { AccountStore } from "./account-store.ts";
import type { KeyStore } from "./key-store.ts";
import type { TeamStore } from "./team-store.ts";

/** Where names are looked up. */
export interface NameStores {
  readonly keys: Pick<KeyStore, "findKeyNames">;
  readonly accounts: Pick<AccountStore, "findAccountNames">;
  readonly teams: Pick<TeamStore, "findTeamNames">;
}

/** The ids in one row of a list. */
interface NamedIds {
  readonly accountId: string | null;
  readonly keyId: string | null;
  readonly userId: string | null;
  readonly teamId?: string | null | undefined;
}

/** The names of accounts, users, API keys and teams, by their ids. */
export interface Names {
  /** Returns the name of an account or user; null for null, and for an id without an account. */
  account(id: string | null): string | null;
  /** Returns the name of an API key; null for null, and for an id without a key. */
  key(id: string | null): string | null;
  /** Returns the name of a team, also of a deleted one; null for null, and for an id without a team. */
  team(id: string | null): string | null;
}

/** The maximum number of ids that one statement looks up. */
const AT_ONCE = 500;

/** Looks up the names of everything that the rows of a list refer to: a statement each for keys, accounts and teams in most cases. */
export async function findNames(stores: NameStores, rows: readonly NamedIds[]): Promise<Names> {
  const keys = await findAll(
    rows.map(({ keyId }) => keyId),
    (ids) => stores.keys.findKeyNames(ids),
  );
  const accounts = await findAll(
    rows.flatMap(({ accountId, userId }) => [accountId, userId]),
    (ids) => stores.accounts.findAccountNames(ids),
  );
  const teams = await findAll(
    rows.map(({ teamId }) => teamId ?? null),
    (ids) => stores.teams.findTeamNames(ids),
  );
  return {
    account: (id) => (id === null ? null : (accounts.get(id) ?? null)),
    key: (id) => (id === null ? null : (keys.get(id) ?? null)),
    team: (id) => (id === null ? null : (teams.get(id) ?? null)),
  };
}

async function findAll(
  ids: readonly (string | null)[],
  find: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids.filter((id) => id !== null && id !== ""))] as string[];
  const names = new Map<string, string>();
  for (let at = 0; at < wanted.length; at += AT_ONCE)
    for (const [id, name] of await find(wanted.slice(at, at + AT_ONCE))) names.set(id, name);
  return names;
}
