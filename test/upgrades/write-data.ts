import type { Api, Made } from "./api.ts";
import { type Installation, WEBHOOK_SECRET } from "./installation.ts";
import { ask, CLIENT_APIS, type ClientApi, type Question } from "./requests.ts";

/** An API key of the data. */
export interface WrittenKey {
  readonly name: string;
  readonly id: string;
  readonly secret: string;
}

/** What an installation has after `writeData`, as far as it cannot be listed by the API. */
export interface WrittenData {
  readonly inferenceKeys: readonly WrittenKey[];
  readonly managementKeys: readonly WrittenKey[];
  readonly accounts: readonly string[];
  readonly organizations: readonly string[];
  /** Generations that a client has seen. */
  readonly generations: readonly string[];
  /** Those whose bodies may be in the prompt log. */
  readonly logged: readonly string[];
  /** A team of the first organization; null if the version has none. */
  readonly team: string | null;
  /** Requests that were rejected before they became generations. Empty if the version does not store them. */
  readonly rejected: readonly string[];
  /** The cookie of a console session; null if the version has none. */
  readonly cookie: string | null;
  /** Kept responses of the second inference key, and its conversation; null if the version keeps none. */
  readonly kept: KeptObjects | null;
}

/** Kept responses and a conversation. */
interface KeptObjects {
  readonly responses: readonly string[];
  readonly conversation: string;
  /** An item of the conversation. */
  readonly item: string;
}

/** A model whose provider, and the provider's key, the stored configuration has. */
export const STORED_MODEL = "acme/stored";

/** The id and body of a request that may be repeated with the same result. */
export const REPEATABLE = { id: "users-1", body: { name: "Made once" } } as const;

/**
 * Makes everything that the API of a version can store: accounts, members, keys of each kind with each limit, credits, provider keys,
 * policies, teams, invitations, named routes, tiers, settings, drains, and generations of each outcome in each client API. Members that the version does not take
 * are left out.
 */
export async function writeData(api: Api, installation: Installation): Promise<WrittenData> {
  const accounts = await writeAccounts(api);
  const keys = await writeKeys(api, accounts);
  await writeCredits(api, installation, accounts);
  await writeIdentities(api, accounts);
  await writeProviderKeys(api, accounts);
  await writeRoutes(api, accounts);
  await writeConfig(api, installation);
  const team = await writeTeams(api, accounts);
  await writeInvitations(api, installation, accounts);
  await writeBudgets(api, { keys: keys.inferenceKeys, user: accounts.ada, organization: accounts.acme });
  const cookie = await signIn(api, installation);
  const { generations, logged } = await writeGenerations(api, keys.inferenceKeys);
  await writeRefund(api, generations);
  const rejected = await writeRejected(api, keys.inferenceKeys);
  const kept = await writeKept(api, keys.inferenceKeys);
  return {
    kept,
    ...keys,
    team,
    rejected,
    accounts: ["acct_default", ...Object.values(accounts)],
    organizations: [accounts.acme, accounts.closed],
    generations,
    logged,
    cookie,
  };
}

interface Accounts {
  readonly ada: string;
  readonly bob: string;
  /** A user whose requests only their own provider keys may serve, or whose models are restricted. */
  readonly strict: string;
  readonly poor: string;
  readonly acme: string;
  readonly closed: string;
}

const USERS = "POST /api/admin/users";
const ORGANIZATIONS = "POST /api/admin/organizations";
const MEMBER = "/api/admin/organizations/{id}/members/{user_id}";

/** Returns the members of a body that an operation takes. */
function fit(api: Api, operation: string, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([member]) => api.takes(operation, member)));
}

async function writeAccounts(api: Api): Promise<Accounts> {
  const user = async (body: Readonly<Record<string, unknown>>): Promise<string> =>
    (await api.make(USERS, [], fit(api, USERS, body))).data.id;
  const organization = async (body: Readonly<Record<string, unknown>>): Promise<string> =>
    (await api.make(ORGANIZATIONS, [], fit(api, ORGANIZATIONS, body))).data.id;
  const ada = await user({
    name: "Ada",
    email: "ada@example.com",
    external_id: "crm-1",
    plan: "gold",
    overdraft: 1,
  });
  const bob = await user({
    name: "Bob",
    rate_limit: { requests_per_minute: 90, tokens_per_minute: 900_000 },
  });
  const strict = await user({
    name: "Strict",
    policy: { denied_models: ["acme/two"], allowed_providers: ["alpha"], deny_data_collection: false },
  });
  const poor = await user({ name: "Poor" });
  const acme = await organization({ name: "Acme", owner: ada, monthly_limit: 50, external_id: "crm-2" });
  const closed = await organization({ name: "Closed", owner: bob });
  await api.make(`PUT ${MEMBER}`, [acme, bob], { role: "member", daily_limit: 5 });
  await api.make(`PUT ${MEMBER}`, [acme, strict], { role: "billing" });
  await api.make(`DELETE ${MEMBER}`, [acme, strict]);
  await api.make("PATCH /api/admin/users/{id}", [bob], { name: "Bob B." });
  await api.make("PATCH /api/admin/organizations/{id}", [acme], {
    policy: { allowed_models: ["acme/*"], zero_retention: false },
  });
  await api.make("PATCH /api/admin/organizations/{id}", [closed], { closed: true });
  await api.call(USERS, [], { body: REPEATABLE.body, headers: { "idempotency-key": REPEATABLE.id } });
  return { ada, bob, strict, poor, acme, closed };
}

const KEYS = "POST /api/admin/keys";
/** The name of the key with a prompt log. */
const LOGGED = "a user's with a log and a cache";

async function writeKeys(api: Api, { ada, bob, strict, poor, acme }: Accounts) {
  const create = async (name: string, body: Readonly<Record<string, unknown>>): Promise<WrittenKey> => {
    const made = await api.make(KEYS, [], fit(api, KEYS, { name, ...body }));
    return { name, id: made.data.id, secret: made.key as string };
  };
  const inferenceKeys = [
    await create("the operator's", { account_id: "acct_default" }),
    await create("a user's", { account_id: ada }),
    await create("a user's with a rate limit", {
      account_id: bob,
      rate_limit: { requests_per_minute: 2, concurrent: 3 },
    }),
    await create("a user's with a used-up limit", { account_id: ada, spend_limit: 0.000001 }),
    await create("a user's with a limit by day", {
      account_id: ada,
      spend_limit: 5,
      spend_limit_period: "day",
    }),
    await create("a user's for one model", { account_id: ada, models: ["acme/two"] }),
    await create(LOGGED, { account_id: ada, prompt_log: 86_400, cache: 600 }),
    await create("a user's that expires", { account_id: ada, expires_at: "2126-01-02T03:04:05Z" }),
    await create("a user's that expired", {
      account_id: ada,
      expires_at: new Date(Date.now() + 600).toISOString(),
    }),
    await create("a user's with a policy", { account_id: strict }),
    await create("a user's without credit", { account_id: poor }),
    await create("an organization's", { account_id: acme }),
    await create("a member's", { account_id: acme, user_id: bob }),
    await create("a revoked one", { account_id: ada }),
  ];
  const managementKeys = [
    await create("the operator's for management", { kind: "management", account_id: "acct_default" }),
    await create("an owner's", { kind: "management", account_id: acme, user_id: ada }),
    await create("a member's for management", { kind: "management", account_id: acme, user_id: bob }),
  ];
  const revoked = inferenceKeys.at(-1) as WrittenKey;
  await api.make("DELETE /api/admin/keys/{id}", [revoked.id]);
  const changed = inferenceKeys[1] as WrittenKey;
  await api.make("PATCH /api/admin/keys/{id}", [changed.id], { name: "a user's, renamed" });
  return { inferenceKeys, managementKeys };
}

const CREDITS = "POST /api/admin/accounts/{id}/credits";

async function writeCredits(
  api: Api,
  { url }: Installation,
  { ada, bob, strict, acme }: Accounts,
): Promise<void> {
  for (const id of [ada, bob, strict, acme])
    await api.make(CREDITS, [id], { amount: "20", note: "first", id: `first_${id}` });
  await api.make(CREDITS, [ada], { amount: 3, expires_at: "2126-01-02T03:04:05Z" });
  const soon = new Date(Date.now() + 1_000).toISOString();
  await api.make(CREDITS, [bob], { amount: "1.5", expires_at: soon });
  await api.make("POST /api/admin/accounts/{id}/corrections", [ada], { amount: "-0.25", note: "a mistake" });
  const purchases = "POST /api/admin/accounts/{id}/purchases";
  if (api.has(purchases))
    await api.make(purchases, [bob], { id: "pay_2", amount: "2.25", note: "by transfer" });
  const payment = JSON.stringify({ id: "pay_1", account_id: acme, amount: "12.50", currency: "usd" });
  const time = Math.floor(Date.now() / 1000);
  const mac = new Bun.CryptoHasher("sha256", WEBHOOK_SECRET).update(`${time}.${payment}`).digest("hex");
  const paid = await fetch(`${url}/api/payments/webhook`, {
    method: "POST",
    headers: { "x-gateway-signature": `t=${time},v1=${mac}` },
    body: payment,
  });
  if (paid.status !== 201) throw new Error(`the payment: ${paid.status} ${await paid.text()}`);
  api.called.add("POST /api/payments/webhook");
}

const IDENTITIES = "/api/admin/users/{id}/identities";

/** Links people of an OpenID Connect provider to users; one of the links is removed again. */
async function writeIdentities(api: Api, { ada, bob }: Accounts): Promise<void> {
  if (!api.has(`POST ${IDENTITIES}`)) return;
  const issuer = "https://id.example.com";
  for (const [user, subject] of [
    [ada, "248289761001"],
    [bob, "248289761002"],
  ] as const)
    await api.make(`POST ${IDENTITIES}`, [user], { issuer, subject });
  await api.make(`DELETE ${IDENTITIES}/{subject}`, [bob, "248289761002"]);
}

const PROVIDER_KEYS = "/api/admin/accounts/{id}/provider-keys";

async function writeProviderKeys(api: Api, { acme, bob }: Accounts): Promise<void> {
  const add = async (account: string, body: unknown): Promise<Made> =>
    api.make(`POST ${PROVIDER_KEYS}`, [account], body);
  // A member of the organization has one of their own; the others share the second.
  await add(acme, { provider: "alpha", key: "sk-byok-of-acme-1", name: "Ours", order: 1, members: [bob] });
  const second = await add(acme, { provider: "alpha", key: "sk-byok-of-acme-2", name: "Second", order: 2 });
  const off = await add(bob, { provider: "alpha", key: "sk-byok-of-bob", enabled: false });
  const gone = await add(bob, { provider: "alpha", key: "sk-byok-gone" });
  await api.make(`PATCH ${PROVIDER_KEYS}/{key_id}`, [acme, second.data.id], { models: ["acme/one"] });
  await api.make(`PATCH ${PROVIDER_KEYS}/{key_id}`, [bob, off.data.id], { name: "Off" });
  await api.make(`DELETE ${PROVIDER_KEYS}/{key_id}`, [bob, gone.data.id]);
}

const ROUTES = "/api/admin/named-routes/{name}";

async function writeRoutes(api: Api, { ada }: Accounts): Promise<void> {
  if (api.has(`PUT ${ROUTES}`)) {
    await writeNamedRoutes(api, ada);
    await writeOddRoutes(api);
  }
  if (api.has("PUT /api/admin/tiers/{id}")) {
    const pick = { models: ["acme/two", "acme/one"] };
    await api.make("PUT /api/admin/tiers/{id}", ["ours"], {
      name: "Ours",
      rule: { by: "balance", paid: pick, else: pick },
    });
    await api.make("PUT /api/admin/tiers/{id}", ["other"], {
      name: "Other",
      rule: { by: "balance", paid: pick, else: pick },
    });
    await api.make("DELETE /api/admin/tiers/{id}", ["other"]);
  }
  if (api.has("POST /api/admin/health/{provider}/drain")) {
    const drain = { model: "acme/two", until: "2126-01-02T03:04:05Z", note: "maintenance" };
    await api.make("POST /api/admin/health/{provider}/drain", ["alpha"], drain);
    await api.make("POST /api/admin/health/{provider}/drain", ["alpha"], { model: "acme/vector" });
    await api.send("DELETE", "/api/admin/health/alpha/drain?model=acme/vector", {});
    api.called.add("DELETE /api/admin/health/{provider}/drain");
  }
}

const TEAMS = "/api/admin/organizations/{id}/teams";

/** Makes teams of an organization, one of which is deleted, with members and a key that is rotated. Returns the id of the first. */
async function writeTeams(api: Api, { acme, bob }: Accounts): Promise<string | null> {
  if (!api.has(`POST ${TEAMS}`)) return null;
  const { id } = (await api.make(`POST ${TEAMS}`, [acme], { name: "Search", tags: ["team:search"] })).data;
  const gone = await api.make(`POST ${TEAMS}`, [acme], { name: "Gone" });
  const policy = { denied_models: ["acme/two"] };
  await api.make(`PATCH ${TEAMS}/{team_id}`, [acme, id], { policy, rate_limit: { concurrent: 40 } });
  for (const team of [id, gone.data.id])
    await api.make(`PUT ${TEAMS}/{team_id}/members/{user_id}`, [acme, team, bob], { is_lead: team === id });
  await api.make(`DELETE ${TEAMS}/{team_id}/members/{user_id}`, [acme, gone.data.id, bob]);
  await api.make(`DELETE ${TEAMS}/{team_id}`, [acme, gone.data.id]);
  const key = await api.make(KEYS, [], { name: "a team's", account_id: acme, user_id: bob, team_id: id });
  await api.make("POST /api/admin/keys/{id}/rotate", [key.data.id], { overlap_hours: 48 });
  return id;
}

const INVITATIONS = "/api/admin/organizations/{id}/invitations";

/** Makes an invitation of each state: one that is open, one that is withdrawn, and one that a person accepts, who becomes a user. */
async function writeInvitations(api: Api, { url }: Installation, { acme }: Accounts): Promise<void> {
  if (!api.has(`POST ${INVITATIONS}`)) return;
  const invite = (body: unknown) => api.make(`POST ${INVITATIONS}`, [acme], body);
  await invite({ role: "auditor", expires_in_hours: 720 });
  const withdrawn = await invite({ email: "eve@example.com" });
  await api.make(`DELETE ${INVITATIONS}/{invitation_id}`, [acme, withdrawn.data.id]);
  const { link } = await invite({ role: "member" });
  const code = new URLSearchParams(new URL(link ?? "").hash.slice(1)).get("code");
  const headers = { "sec-fetch-site": "same-origin", origin: url };
  const accept = { body: { code, name: "Invited" }, key: "", headers };
  const accepted = await api.call("POST /api/console/invitations/accept", [], accept);
  if (accepted.status !== 200) throw new Error(`the invitation: ${JSON.stringify(accepted.body)}`);
}

const CONFIG = "/api/admin/config";
const STORED_SECRET = `\${secret:stored}`;

/** Stores settings, and a provider with a key, in revisions of which an earlier one is restored. No-op if the version stores none. */
async function writeConfig(api: Api, { vendorUrl }: Installation): Promise<void> {
  if (!api.has(`PATCH ${CONFIG}`)) return;
  const edit = (path: readonly string[], value: unknown) =>
    api.make(`PATCH ${CONFIG}`, [], { edits: [{ path, value }] });
  const prices = { prompt: "0.000001", completion: "0.000002" };
  const models = [{ id: STORED_MODEL, name: "stored", prices }];
  for (const name of ["stored", "gone"])
    await api.make(`PUT ${CONFIG}/secrets/{id}`, [name], { value: `sk-of-the-operator-${name}` });
  await api.make(`DELETE ${CONFIG}/secrets/{id}`, ["gone"]);
  await edit(["providers", "beta"], { base_url: vendorUrl, api_keys: [STORED_SECRET], models });
  const { revision } = (await edit(["storage", "rejected_days"], 5)).data;
  const restored = await api.make(`GET ${CONFIG}/revisions/{revision}`, [String(revision)]);
  await edit(["storage", "rejected_days"], 6);
  await api.make(`POST ${CONFIG}/revisions/{revision}/restore`, [String(revision)]);
  await api.make(`PUT ${CONFIG}`, [], { document: restored.data["document"] });
}

async function writeNamedRoutes(api: Api, ada: string): Promise<void> {
  await api.make(`PUT ${ROUTES}`, ["first-choice"], {
    kind: "alias",
    target: "acme/one",
    description: "First",
  });
  await api.make(`PUT ${ROUTES}`, ["first-choice"], { kind: "alias", target: "acme/two" });
  await api.make(`POST ${ROUTES}/restore`, ["first-choice"], { version: 1 });
  const targets = [
    { model: "acme/one", weight: 1, shadow: { model: "acme/one", share: 0.000001 } },
    { model: "acme/two", weight: 0 },
  ];
  await api.make(`PUT ${ROUTES}`, ["split"], { kind: "group", targets, sticky: "request" });
  await api.make(`PUT ${ROUTES}`, ["unused"], { kind: "alias", target: "acme/one" });
  await api.make(`DELETE ${ROUTES}`, ["unused"]);
  const preset = {
    kind: "preset",
    model: "acme/one",
    parameters: { temperature: 0.5, max_tokens: 20 },
    provider: { data_collection: "allow", max_price: { prompt: 1 } },
    system: "Be brief.",
  };
  const response = await api.send("PUT", `/api/admin/named-routes/%40brief?account_id=${ada}`, {
    body: preset,
  });
  if (response.status >= 300) throw new Error(`the preset: ${JSON.stringify(response.body)}`);
}

/** Whose budgets to create. */
interface BudgetOwners {
  readonly keys: readonly WrittenKey[];
  readonly user: string;
  readonly organization: string;
}

/** Creates a budget of each subject and period, with room for the requests of the test. No-op if the version has no budgets. */
export async function writeBudgets(api: Api, { keys, user, organization }: BudgetOwners): Promise<void> {
  const operation = "POST /api/admin/budgets";
  if (!api.has(operation)) return;
  const budgets = [
    { account_id: user, limit: 100, period: "total" },
    { account_id: user, limit: 100, key_id: keys[1]?.id, period: "day" },
    { account_id: user, limit: 100, end_user: "*", period: "week", action: "warn" },
    { account_id: user, limit: 100, tag: "team:red", period: "rolling", days: 3, warn_at: 0.5 },
    { account_id: organization, limit: 100, user_id: user, period: "month" },
  ];
  for (const budget of budgets) await api.make(operation, [], budget);
  const gone = await api.make(operation, [], { account_id: user, limit: 1, tag: "gone" });
  await api.make("PATCH /api/admin/budgets/{id}", [gone.data.id], { limit: 2, name: "Gone" });
  await api.make("DELETE /api/admin/budgets/{id}", [gone.data.id]);
}

/** Makes rows that an earlier version takes and a later one may not take any more. What is stored stays. */
async function writeOddRoutes(api: Api): Promise<void> {
  const odd = "acme/gr\u00f6\u00dfe";
  await api.call(`PUT ${ROUTES}`, ["odd-alias"], { body: { kind: "alias", target: odd } });
  const targets = [
    { model: "acme/one", weight: 1 },
    { model: odd, weight: 0 },
  ];
  await api.call(`PUT ${ROUTES}`, ["odd-group"], { body: { kind: "group", targets } });
  const pick = { models: ["acme/one"] };
  const rule = { by: "balance", paid: pick, else: pick };
  await api.call("PUT /api/admin/tiers/{id}", ["odd"], { body: { name: "Odd\u0085name", rule } });
}

/** Signs a browser in to the console. Returns its cookie. */
async function signIn(api: Api, { url }: Installation): Promise<string | null> {
  const operation = "POST /api/console/session";
  if (!api.has(operation)) return null;
  const secret = await api.make(KEYS, [], {
    name: "signs in",
    kind: "management",
    account_id: "acct_default",
  });
  const response = await api.call(operation, [], {
    key: "",
    body: { key: secret.key },
    headers: { "sec-fetch-site": "same-origin", origin: url },
  });
  return response.headers.get("set-cookie")?.split(";")[0] ?? null;
}

const RESPONSES = "POST /api/gateway/responses";
const CONVERSATIONS = "/api/gateway/conversations";

/** Keeps a chain of responses, one of which is deleted again, one of the background, a compaction and a conversation with items. */
async function writeKept(api: Api, [, user]: readonly WrittenKey[]): Promise<KeptObjects | null> {
  if (!api.has(`POST ${CONVERSATIONS}`)) return null;
  const key = user?.secret ?? "";
  const send = async (operation: string, values: readonly string[], body?: unknown): Promise<Kept> => {
    const response = await api.call(operation, values, { key, ...(body === undefined ? {} : { body }) });
    if (response.status >= 300) throw new Error(`${operation}: ${JSON.stringify(response.body)}`);
    return response.body as Kept;
  };
  const ask = (more: object) =>
    send(RESPONSES, [], { model: "acme/one", input: "ANSWER please", store: true, ...more });
  const first = await ask({});
  const second = await ask({ previous_response_id: first.id });
  const gone = await ask({});
  await send("DELETE /api/gateway/responses/{id}", [gone.id]);
  const background = await ask({ background: true });
  await send("POST /api/gateway/responses/{id}/cancel", [background.id], {});
  await send("POST /api/gateway/responses/compact", [], { model: "acme/one", input: "ANSWER please" });
  const { id: conversation } = await send(`POST ${CONVERSATIONS}`, [], { metadata: { a: "b" } });
  await send(`POST ${CONVERSATIONS}/{id}`, [conversation], { metadata: { topic: "upgrade" } });
  const items = [1, 2].map((n) => ({ role: "user", content: `Item ${n}` }));
  const added = await send(`POST ${CONVERSATIONS}/{id}/items`, [conversation], { items });
  const [item = "", deleted = ""] = (added.data ?? []).map(({ id }) => id);
  await send(`DELETE ${CONVERSATIONS}/{id}/items/{item}`, [conversation, deleted]);
  const inConversation = await ask({ conversation });
  const { id: other } = await send(`POST ${CONVERSATIONS}`, [], {});
  await send(`DELETE ${CONVERSATIONS}/{id}`, [other]);
  await deleteAsOperator(api, (await ask({})).id);
  return { responses: [first.id, second.id, background.id, inConversation.id], conversation, item };
}

/** Cancels and deletes a kept response as the operator. */
async function deleteAsOperator(api: Api, id: string): Promise<void> {
  await api.call("POST /api/admin/responses/{id}/cancel", [id]);
  await api.make("DELETE /api/admin/responses/{id}", [id]);
}

/** A kept response, a conversation, or a list of items. */
interface Kept {
  readonly id: string;
  readonly data?: readonly { readonly id: string }[];
}

/** Sends a request that is rejected. Returns its id; none if the version does not store such requests. */
async function writeRejected(api: Api, [first]: readonly WrittenKey[]): Promise<string[]> {
  if (!api.has("GET /api/admin/rejections/{id}")) return [];
  const [chat] = CLIENT_APIS as readonly [ClientApi];
  const { headers } = await api.call(chat.operation, [], {
    key: first?.secret ?? "",
    body: chat.body("ANSWER please", "acme/unknown"),
  });
  return [headers.get("x-request-id") ?? ""];
}

/** The ids of generations. */
interface WrittenGenerations {
  readonly generations: readonly string[];
  readonly logged: readonly string[];
}

/** Sends requests of each outcome in each client API, and one for each key. */
export async function writeGenerations(api: Api, keys: readonly WrittenKey[]): Promise<WrittenGenerations> {
  const generations: string[] = [];
  const logged: string[] = [];
  const [, user] = keys as [WrittenKey, WrittenKey];
  const [chat] = CLIENT_APIS as readonly [ClientApi];
  const send = async (key: WrittenKey, one: Omit<Question, "key">): Promise<void> => {
    const { generationId } = await ask(api, { key: key.secret, ...one });
    if (generationId === null) return;
    generations.push(generationId);
    if (key.name === LOGGED) logged.push(generationId);
  };
  for (const client of CLIENT_APIS) {
    for (const isStream of [false, true])
      for (const plan of ["ANSWER", "FAIL", "BREAK"] as const) await send(user, { client, plan, isStream });
    await send(user, { client, plan: "HANG", isStream: true, leaves: true });
  }
  for (const key of keys) await send(key, { client: chat, plan: "ANSWER", isStream: false });
  const tags = { "x-gateway-tags": "team:red,job:1", "x-session-id": "session-1" };
  await send(user, { client: chat, plan: "ANSWER", isStream: false, headers: tags });
  const repeatable = { "idempotency-key": REPEATABLE.id };
  await send(user, { client: chat, plan: "ANSWER", isStream: false, headers: repeatable });
  const embedded = await api.call("POST /api/gateway/embeddings", [], {
    key: user.secret,
    body: { model: "acme/vector", input: "Hello" },
  });
  const id = embedded.headers.get("x-gateway-generation-id");
  if (embedded.status !== 200 || id === null) throw new Error(`embeddings: ${JSON.stringify(embedded.body)}`);
  return { generations: [...generations, id], logged };
}

async function writeRefund(api: Api, generations: readonly string[]): Promise<void> {
  const [first = ""] = generations;
  await api.make("POST /api/admin/generations/{id}/refund", [first], { amount: "0.000001", note: "sorry" });
}
