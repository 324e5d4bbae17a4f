import type { Api, ApiResponse } from "./api.ts";
import type { WrittenData } from "./write-data.ts";

/** What an API says, by request. */
export type State = ReadonlyMap<string, unknown>;

/** The largest page of a list. */
const ALL = "limit=100";
const GROUPS = ["day", "model", "provider", "key", "user", "account", "outcome", "tag"];

/**
 * Reads everything that a gateway's API says about the data: as the operator, with every key, and with a console session. `earlier` is
 * the API of the earlier version: what only the later one has is not read.
 */
export async function readState(api: Api, earlier: Api, data: WrittenData): Promise<State> {
  const state = new Map<string, unknown>();
  const read = async (operation: string, values: readonly string[] = [], query = ""): Promise<void> => {
    if (!earlier.has(operation)) return;
    const [, template = ""] = operation.split(" ");
    let next = 0;
    const path = template.replace(/\{\w+\}/g, () => encodeURIComponent(values[next++] ?? "")) + query;
    earlier.called.add(operation);
    state.set(`GET ${path}`, present(await api.send("GET", path, {})));
  };
  await readLists(read);
  await readUsage(read, earlier);
  for (const account of data.accounts) await readAccount(read, account);
  const [first = ""] = data.organizations;
  if (data.team !== null) {
    await read("GET /api/admin/organizations/{id}/teams/{team_id}", [first, data.team]);
    await read("GET /api/admin/organizations/{id}/teams/{team_id}/members", [first, data.team]);
  }
  await read("GET /api/admin/teams");
  for (const organization of data.organizations) {
    await read("GET /api/admin/organizations/{id}/teams", [organization]);
    await read("GET /api/admin/organizations/{id}", [organization]);
    await read("GET /api/admin/organizations/{id}/members", [organization], `?${ALL}`);
    await read("GET /api/admin/organizations/{id}/invitations", [organization], `?${ALL}`);
  }
  for (const id of data.generations) await read("GET /api/admin/generations/{id}", [id]);
  for (const id of data.rejected) await read("GET /api/admin/rejections/{id}", [id]);
  for (const id of data.logged) await read("GET /api/admin/generations/{id}/bodies", [id]);
  await readAsOwners(api, earlier, data, state);
  return state;
}

type Read = (operation: string, values?: readonly string[], query?: string) => Promise<void>;

async function readLists(read: Read): Promise<void> {
  for (const list of [
    "users",
    "organizations",
    "keys",
    "audit",
    "balances",
    "generations",
    "sessions",
    "budgets",
    "rejections",
    "incidents",
  ])
    await read(`GET /api/admin/${list}`, [], `?${ALL}`);
  for (const one of ["audit/verify", "holds", "identities", "ledger/check", "tiers", "named-routes"])
    await read(`GET /api/admin/${one}`);
  for (const one of ["", "/export", "/revisions", "/secrets"]) await read(`GET /api/admin/config${one}`);
  await read("GET /api/admin/config/revisions/{revision}", ["1"]);
  await read("GET /api/admin/tiers/{id}", ["ours"]);
  await read("GET /api/admin/named-routes/{name}", ["split"]);
  await read("GET /api/admin/named-routes/{name}/versions", ["first-choice"]);
  for (const filter of ["outcome=failed", "tag=team:red", "model=acme/one"])
    await read("GET /api/admin/generations", [], `?${ALL}&${filter}`);
}

async function readUsage(read: Read, earlier: Api): Promise<void> {
  // Version 0.1.0 groups by one of the first six, and tells the report of all days only.
  const groups = earlier.has("GET /api/admin/generations") ? GROUPS : GROUPS.slice(0, 6);
  for (const group of groups) await read("GET /api/admin/usage", [], `?group_by=${group}`);
}

async function readAccount(read: Read, id: string): Promise<void> {
  if (id.startsWith("user_")) await read("GET /api/admin/users/{id}", [id]);
  await read("GET /api/admin/accounts/{id}/balance", [id]);
  await read("GET /api/admin/accounts/{id}/ledger", [id], `?${ALL}`);
  await read("GET /api/admin/accounts/{id}/provider-keys", [id], `?${ALL}`);
  await read("GET /api/admin/named-routes", [], `?account_id=${id}`);
}

/** Reads what keys and a console session may read. */
async function readAsOwners(
  api: Api,
  earlier: Api,
  data: WrittenData,
  state: Map<string, unknown>,
): Promise<void> {
  const { inferenceKeys, managementKeys, cookie, generations } = data;
  for (const { name, secret } of inferenceKeys)
    for (const path of ["/key", "/credits", "/activity"]) {
      const answer = await api.call(`GET /api/gateway${path}`, [], { key: secret });
      earlier.called.add(`GET /api/gateway${path}`);
      state.set(`${path} of ${name} key`, present(answer));
    }
  for (const { name, secret } of managementKeys) {
    const answer = await api.send("GET", `/api/admin/keys?${ALL}`, { key: secret });
    state.set(`keys that ${name} key may list`, present(answer));
  }
  earlier.called.add("GET /api/gateway/generation");
  for (const id of generations) {
    const owner = inferenceKeys[1]?.secret ?? "";
    const answer = await api.send("GET", `/api/gateway/generation?id=${id}`, { key: owner });
    state.set(`generation ${id} as its key reads it`, present(answer));
  }
  await readKept(api, earlier, data, state);
  if (cookie === null) return;
  earlier.called.add("GET /api/console/session");
  const answer = await api.send("GET", "/api/console/session", {
    key: "",
    headers: { cookie, "sec-fetch-site": "same-origin" },
  });
  state.set("the console session", present(answer));
}

/** Reads kept responses and their conversation, with the key that made them and as the operator. */
async function readKept(
  api: Api,
  earlier: Api,
  { kept, inferenceKeys }: WrittenData,
  state: Map<string, unknown>,
): Promise<void> {
  if (kept === null) return;
  const owner = inferenceKeys[1]?.secret ?? "";
  const read = async (operation: string, values: readonly string[], key?: string): Promise<void> => {
    earlier.called.add(operation);
    const answer = await api.call(operation, values, key === undefined ? {} : { key });
    state.set(`${operation} ${values.join(" ")}`, present(answer));
  };
  for (const id of kept.responses) {
    await read("GET /api/gateway/responses/{id}", [id], owner);
    await read("GET /api/gateway/responses/{id}/input_items", [id], owner);
    await read("GET /api/admin/responses/{id}", [id]);
    await read("GET /api/admin/responses/{id}/items", [id]);
  }
  const { conversation, item } = kept;
  await read("GET /api/gateway/conversations/{id}", [conversation], owner);
  await read("GET /api/gateway/conversations/{id}/items", [conversation], owner);
  await read("GET /api/gateway/conversations/{id}/items/{item}", [conversation, item], owner);
  await read("GET /api/admin/responses", []);
  await read("GET /api/admin/responses/usage", []);
}

/** Texts of errors are for people, and change; their types are for programs. */
function present({ status, body }: ApiResponse): unknown {
  if (status < 400) return { status, body };
  return { status, error_type: (body as { readonly error_type?: string }).error_type ?? null };
}

/** A field that differs between two versions on purpose. */
export interface KnownChange {
  /** Matches the request and the path of the field: `GET /api/admin/keys?limit=100.body.data.0.hint`. */
  readonly at: RegExp;
  /** The earlier version that alone has the field otherwise. Absent: every version. */
  readonly only?: string;
  /** The value that alone changes. Absent: every value. */
  readonly from?: unknown;
  readonly why: string;
}

/** Returns each field of `before` that `after` does not have with the same value. Fields and members that are new are no difference. */
export function compareStates(before: State, after: State, known: readonly KnownChange[]): string[] {
  const differences: string[] = [];
  const compare = (at: string, one: unknown, other: unknown): void => {
    if (Bun.deepEquals(one, other)) return;
    if (known.some((change) => change.at.test(at) && (change.from ?? one) === one)) return;
    if (isObject(one) && isObject(other)) {
      for (const [name, value] of Object.entries(one)) compare(`${at}.${name}`, value, other[name]);
      return;
    }
    if (Array.isArray(one) && Array.isArray(other)) {
      const isSame = one.length === other.length;
      // Where one list has more, its members are those of the same name.
      if (isSame) for (const [index, value] of one.entries()) compare(`${at}.${index}`, value, other[index]);
      if (isSame) return;
      const [named, others] = [byName(one), byName(other)];
      if (named !== null && others !== null) {
        for (const [name, value] of named) compare(`${at}.${name}`, value, others.get(name));
        return;
      }
    }
    differences.push(`${at}: ${shorten(one)} is now ${shorten(other)}`);
  };
  for (const [request, answer] of before) compare(request, answer, after.get(request));
  return differences;
}

/** Returns the members of a list by their ids or names; null if they have none, or the same. */
function byName(list: readonly unknown[]): ReadonlyMap<string, unknown> | null {
  const members = new Map(
    list.map((member) => {
      const { id, name } = isObject(member) ? member : {};
      return [String(id ?? name ?? ""), member];
    }),
  );
  return members.has("") || members.size !== list.length ? null : members;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SHOWN = 160;

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
