import { ADMIN_KEY_ID } from "../../core/accounts/records/principal.ts";
import type { Endpoint } from "../../http/api/endpoint.ts";
import { getManagedKey, listKeys } from "../../http/routes/accounts/admin-keys.ts";
import { getOrganization, listOrganizations } from "../../http/routes/accounts/admin-organizations.ts";
import { listAllProviderKeys } from "../../http/routes/accounts/admin-provider-keys.ts";
import { listAllTeams } from "../../http/routes/accounts/admin-teams.ts";
import { getUser, listUsers } from "../../http/routes/accounts/admin-users.ts";
import { type Caller, findOne, listRows } from "../callers/caller.ts";
import type { Named, NameSource } from "./resolve-name.ts";

/** Help texts for arguments that `resolveName` reads. */
export const NAMED_BY = {
  account: "Account: ID, name, e-mail or external ID",
  user: "User: ID, name, e-mail or external ID",
  organization: "Organization: ID, name or external ID",
  key: "API key: ID or name",
  providerKey: "Provider key: ID or name",
  team: "Team: ID or name",
} as const;

/**
 * How many resources with the same name are read: enough to find the account with an e-mail address even if other accounts are named after
 * it.
 */
const SAME_NAME = 1_000;
/** The newest resources whose names are suggested. */
const SUGGESTED_FROM = 1_000;

const KINDS = {
  user: { get: getUser, list: listUsers, listedBy: "gateway users list" },
  organization: { get: getOrganization, list: listOrganizations, listedBy: "gateway orgs list" },
} as const;

type Kind = keyof typeof KINDS;

interface AccountRow {
  readonly id: string;
  readonly name: string;
  /** Absent for organizations. */
  readonly email?: string | null;
  readonly external_id: string | null;
  readonly closed_at: string | null;
}

/** Returns where accounts are looked up: of one kind, or all. If several have the same name, the open ones are preferred by default. */
export function accountsOf(kind?: Kind, state: "open" | "closed" = "open"): (caller: Caller) => NameSource {
  const kinds = kind === undefined ? (Object.keys(KINDS) as Kind[]) : [kind];
  const nameAll = (kind: Kind, rows: readonly unknown[]) =>
    (rows as readonly AccountRow[]).map((row) => nameAccount(row, kind, state));
  return (caller) => {
    const list = async (query: Readonly<Record<string, string>>, limit: number) => {
      const lists = kinds.map(async (one) =>
        nameAll(one, await listRows(caller, KINDS[one].list, { query, limit })),
      );
      return (await Promise.all(lists)).flat();
    };
    return {
      noun: kind ?? "account",
      listedBy: kinds.map((one) => KINDS[one].listedBy).join(" or "),
      async find(id) {
        for (const one of kinds) {
          const row = await findOne(caller, KINDS[one].get, { id });
          if (row !== null) return nameAccount(row as AccountRow, one, state);
        }
        return null;
      },
      findByText: (named) => list({ named }, SAME_NAME),
      listSome: () => list({}, SUGGESTED_FROM),
    };
  };
}

function nameAccount(
  { id, name, email = null, external_id, closed_at }: AccountRow,
  kind: Kind,
  state: "open" | "closed",
): Named {
  return {
    id,
    name,
    aliases: [email, external_id].filter((alias) => alias !== null),
    isPreferred: (closed_at === null) === (state === "open"),
    details: listDetails(kind, email, external_id, closed_at === null ? null : "closed"),
  };
}

interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly account_id: string;
  readonly hint: string;
  readonly revoked_at: string | null;
}

/** The key of requests with the configured admin key. It is not stored. */
const ADMIN_KEY: Named = {
  id: ADMIN_KEY_ID,
  name: ADMIN_KEY_ID,
  aliases: [],
  isPreferred: true,
  details: "",
};

/** Returns where API keys are looked up. */
export function keysOf(caller: Caller): NameSource {
  return {
    noun: "API key",
    listedBy: "gateway keys list",
    async find(id) {
      if (id === ADMIN_KEY_ID) return ADMIN_KEY;
      const row = await findOne(caller, getManagedKey, { id });
      return row === null ? null : nameKey(row);
    },
    findByText: (name) => listNamed(caller, listKeys, { query: { name }, limit: SAME_NAME }, nameKey),
    listSome: () => listNamed(caller, listKeys, { limit: SUGGESTED_FROM }, nameKey),
  };
}

function nameKey(row: unknown): Named {
  const { id, name, kind, account_id, hint, revoked_at } = row as KeyRow;
  return {
    id,
    name,
    aliases: [],
    isPreferred: revoked_at === null,
    details: listDetails(kind, hint, `of ${account_id}`, revoked_at === null ? null : "revoked"),
    owner: account_id,
  };
}

interface TeamRow {
  readonly id: string;
  readonly name: string;
  readonly organization_id: string;
  readonly deleted_at: string | null;
}

/** Returns where the teams of all organizations are looked up, deleted ones too. */
export function teamsOf(caller: Caller): NameSource {
  const findByText = (named: string) =>
    listNamed(caller, listAllTeams, { query: { named }, limit: SAME_NAME }, nameTeam);
  return {
    noun: "team",
    listedBy: "gateway teams list <org>",
    find: async (id) => (await findByText(id)).find((team) => team.id === id) ?? null,
    findByText,
    listSome: () => listNamed(caller, listAllTeams, { limit: SUGGESTED_FROM }, nameTeam),
  };
}

function nameTeam(row: unknown): Named {
  const { id, name, organization_id, deleted_at } = row as TeamRow;
  return {
    id,
    name,
    aliases: [],
    isPreferred: deleted_at === null,
    details: listDetails(`of ${organization_id}`, deleted_at === null ? null : "deleted"),
    owner: organization_id,
  };
}

interface ProviderKeyRow {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly account_id: string;
  readonly last_four: string;
}

/** Returns where the provider keys of all accounts are looked up. */
export function providerKeysOf(caller: Caller): NameSource {
  const listSome = () => listNamed(caller, listAllProviderKeys, { limit: SUGGESTED_FROM }, nameProviderKey);
  return {
    noun: "provider key",
    listedBy: "gateway provider-keys list",
    find: async (id) => (await listSome()).find((named) => named.id === id) ?? null,
    findByText: async (wanted) =>
      (await listSome()).filter(({ name }) => name.toLowerCase() === wanted.toLowerCase()),
    listSome,
  };
}

function nameProviderKey(row: unknown): Named {
  const { id, name, provider, account_id, last_four } = row as ProviderKeyRow;
  const details = listDetails(provider, `…${last_four}`, `of ${account_id}`);
  return { id, name, aliases: [], isPreferred: true, details, owner: account_id };
}

async function listNamed(
  caller: Caller,
  endpoint: Endpoint,
  input: Parameters<typeof listRows>[2],
  name: (row: unknown) => Named,
): Promise<readonly Named[]> {
  return (await listRows(caller, endpoint, input)).map(name);
}

function listDetails(...details: readonly (string | null)[]): string {
  return details.filter((detail) => detail !== null).join(", ");
}
