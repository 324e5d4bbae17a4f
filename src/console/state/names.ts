import { signal } from "@preact/signals";
import { call, callPath } from "../api/client.ts";
import { text } from "../text/text.ts";
import type { Option } from "./filter-options.ts";
import { can, session } from "./session.ts";

/** The lists of names that filters offer. Each is loaded once, when a screen asks for it. */
export type NameList =
  | "models"
  | "providers"
  | "keys"
  | "accounts"
  | "users"
  | "teams"
  | "errors"
  | "tags"
  | "clients";

const lists = {
  models: signal<readonly Option[]>([]),
  providers: signal<readonly Option[]>([]),
  keys: signal<readonly Option[]>([]),
  accounts: signal<readonly Option[]>([]),
  users: signal<readonly Option[]>([]),
  teams: signal<readonly Option[]>([]),
  errors: signal<readonly Option[]>([]),
  tags: signal<readonly Option[]>([]),
  clients: signal<readonly Option[]>([]),
};

/** The error types of requests that reached a model endpoint or were rejected before. A field takes others, too. */
const ERROR_TYPES = [
  "authentication",
  "client_timeout",
  "content_blocked",
  "context_length_exceeded",
  "insufficient_credits",
  "internal",
  "invalid_request",
  "model_not_allowed",
  "permission_denied",
  "rate_limit_exceeded",
  "unavailable",
  "upstream_error",
];

/** What reports of usage say in place of tags that they do not count individually. */
const UNNAMED_TAGS = ["(other)"];

const asked = new Map<string, Promise<void>>();

/** The maximum number of names of keys and accounts that are loaded. */
const MAX_NAMES = 1_000;
const PAGE = 100;

/** Returns the loaded options of a list. */
export function optionsOf(list: NameList): readonly Option[] {
  return lists[list].value;
}

/** Returns the name of an id in a list; null if the list has none, or is not loaded. */
export function findName(list: NameList, id: string): string | null {
  return optionsOf(list).find(({ value }) => value === id)?.label ?? null;
}

/** Loads a list unless it was loaded. A list that cannot be loaded stays empty; its field then takes any text. */
export function loadOptions(list: NameList): void {
  void whenLoaded(list);
}

/** Loads a list unless it was loaded. Resolves when the list is there, or cannot be loaded. */
export function whenLoaded(list: NameList): Promise<void> {
  const user = `${list} ${session.value?.key_id ?? ""}`;
  const running = asked.get(user);
  if (running !== undefined) return running;
  const load = LOADERS[list]().then(
    (options) => {
      lists[list].value = options;
    },
    () => {
      // Asked again only by another session: a list that fails would otherwise be asked for at every redraw.
    },
  );
  asked.set(user, load);
  return load;
}

/** Makes the next field that asks for a list load it again. */
export function forgetOptions(list: NameList): void {
  for (const name of asked.keys()) if (name.startsWith(`${list} `)) asked.delete(name);
}

interface Listed {
  readonly id: string;
  readonly name?: string | null;
}

const LOADERS: Readonly<Record<NameList, () => Promise<readonly Option[]>>> = {
  models: async () => {
    const { data } = (await callPath("GET /api/gateway/models")) as { data: Listed[] };
    return data.map(({ id }) => ({ value: id, label: id }));
  },
  providers: async () => {
    const { data } = (await callPath("GET /api/gateway/providers")) as {
      data: { slug: string; name: string }[];
    };
    return data.map(({ slug, name }) => ({ value: slug, label: slug, detail: name }));
  },
  keys: async () => {
    const keys = await loadPages((query) => call("GET /api/admin/keys", { query }));
    return keys.map(({ id, name, hint }) => ({ value: id, label: name, detail: hint }));
  },
  accounts: async () => {
    const [organizations, users] = await Promise.all([
      loadPages((query) => call("GET /api/admin/organizations", { query })),
      loadPages((query) => call("GET /api/admin/users", { query })),
    ]);
    return [...organizations, ...users].map(({ id, name }) => ({ value: id, label: name ?? id }));
  },
  // Members may not list the others.
  users: async () => (can("read") ? loadUsers(session.value?.account?.id ?? null) : []),
  teams: loadTeams,
  errors: async () => ERROR_TYPES.map((value) => ({ value, label: value })),
  tags: () => loadUsed("tag"),
  clients: () => loadUsed("client"),
};

/** Loads the teams whose requests the person may read: all of the account, or those that they lead. */
async function loadTeams(): Promise<readonly Option[]> {
  if (!can("read")) {
    const led = (session.value?.teams ?? []).filter(({ is_lead }) => is_lead);
    return led.map(({ id, name }) => ({ value: id, label: name }));
  }
  const teams = await loadPages((query) => call("GET /api/admin/teams", { query }));
  return teams.map(({ id, name, deleted_at }) => ({
    value: id,
    label: name,
    ...(deleted_at === null ? {} : { detail: text.lists.deleted }),
  }));
}

/** Loads the values of a dimension in the usage of the last 30 days. */
async function loadUsed(dimension: "tag" | "client"): Promise<readonly Option[]> {
  const { data } = await call("GET /api/admin/usage", { query: { group_by: dimension } });
  return data.flatMap((line) => {
    const value = line[dimension];
    return value && !UNNAMED_TAGS.includes(value) ? [{ value, label: value }] : [];
  });
}

/** Loads the members of an organization; all users for the operator, whose session has no account. */
async function loadUsers(id: string | null): Promise<readonly Option[]> {
  if (id === null) {
    const users = await loadPages((query) => call("GET /api/admin/users", { query }));
    return users.map((user) => ({ value: user.id, label: user.name ?? user.id }));
  }
  const members = await loadPages((query) =>
    call("GET /api/admin/organizations/{id}/members", { params: { id }, query }),
  );
  return members.map(({ user_id, user_name }) => ({ value: user_id, label: user_name ?? user_id }));
}

/** Loads the pages of a list, up to a bound. */
export async function loadPages<Row>(
  load: (query: { limit: number; after?: string }) => Promise<{ data: Row[]; next: string | null }>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const page: { data: Row[]; next: string | null } = await load({
      limit: PAGE,
      ...(after === null ? {} : { after }),
    });
    rows.push(...page.data);
    after = page.next;
  } while (after !== null && rows.length < MAX_NAMES);
  return rows;
}
