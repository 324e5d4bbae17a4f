import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { listCommands } from "../../../scripts/surface/list-commands.ts";
import type { Printed } from "../../../scripts/surface/list-forms.ts";
import { loadConfig } from "../../../src/app/config/load-config.ts";
import { openMasterKeys } from "../../../src/app/stores/open-master-keys.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { COMMAND_GROUPS } from "../../../src/cli/commands.ts";
import { endpointOf } from "../../../src/cli/endpoint/declare-command.ts";
import { runCli } from "../../../src/cli/run-cli.ts";
import { sealEntries } from "../../../src/core/extensions/prompt-log/seal-entry.ts";
import { createVault } from "../../../src/core/provider-keys/vault.ts";
import type { ManageDeps } from "../../../src/core/response-objects/manage/managed-responses.ts";
import type { ObjectOwner } from "../../../src/core/response-objects/records/response-object.ts";
import type { ResponseStore } from "../../../src/core/response-objects/records/response-store.ts";
import { ObjectSeal } from "../../../src/core/response-objects/records/seal-object.ts";
import { bucketOf } from "../../../src/core/routing/history/history-ranges.ts";
import type { UsageRecord } from "../../../src/core/usage/records/records.ts";
import { ENDPOINTS } from "../../../src/http/routes/endpoints.ts";
import { seedCatalog, startSource } from "../../catalog/seed-catalog.ts";
import { sourceModel } from "../../catalog/source-fixture.ts";
import { rejectionAt, requestIdAt } from "../../storage/contracts/rejection-store.ts";
import { AT, conversationOf, idAt, objectAt } from "../../storage/contracts/response-store.ts";
import { databaseVariables } from "../../support/databases/test-databases.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";

/** The resources that commands can name. */
interface Scene {
  readonly user: string;
  readonly organization: string;
  /** A team of the organization, whose only member is the user. */
  readonly team: string;
  /** Another one, to be deleted. */
  readonly otherTeam: string;
  readonly invitation: string;
  readonly key: string;
  readonly providerKey: string;
  readonly budget: string;
  readonly generation: string;
  /** A kept background response in a conversation. It has ended. */
  readonly response: string;
  /** Another one, to be deleted. */
  readonly otherResponse: string;
  readonly session: string;
  /** The id of a rejected request. */
  readonly rejected: string;
  /** A file with a tier. */
  readonly tierFile: string;
  /** A file with the definition of a named route. */
  readonly routeFile: string;
  /** A file with a configuration. */
  readonly configFile: string;
  /** Held price changes. */
  readonly changes: readonly [approved: string, rejected: string];
}

/** The arguments of the commands for each endpoint. An endpoint can have several commands. */
const COMMANDS: Readonly<Record<string, readonly ((scene: Scene) => readonly string[])[]>> = {
  "GET /api/admin/me": [],
  "GET /api/admin/users": [() => ["users", "list"]],
  "POST /api/admin/users": [() => ["users", "create", "Ada"]],
  "GET /api/admin/users/:id": [({ user }) => ["users", "show", user]],
  "PATCH /api/admin/users/:id": [
    ({ user }) => ["users", "update", user, "--name", "Eve", "--own-keys-only", "no"],
    ({ user }) => ["users", "close", user],
    ({ user }) => ["users", "reopen", user],
  ],
  "GET /api/admin/organizations": [() => ["orgs", "list"]],
  "POST /api/admin/organizations": [() => ["orgs", "create", "Acme"]],
  "GET /api/admin/organizations/:id": [({ organization }) => ["orgs", "show", organization]],
  "PATCH /api/admin/organizations/:id": [
    ({ organization }) => [
      "orgs",
      "update",
      organization,
      "--monthly-limit",
      "5",
      "--denied-models",
      "openai/*",
    ],
    ({ organization }) => ["orgs", "close", organization],
    ({ organization }) => ["orgs", "reopen", organization],
  ],
  "PUT /api/admin/organizations/:id/members/:user_id": [
    ({ organization, user }) => ["members", "set", organization, user, "--role", "admin"],
  ],
  "GET /api/admin/organizations/:id/invitations": [
    ({ organization }) => ["invitations", "list", organization],
  ],
  "POST /api/admin/organizations/:id/invitations": [
    ({ organization }) => ["invitations", "create", organization, "--teams", "search", "--lead"],
    ({ organization }) => ["invitations", "create", organization, "--email", "ada@example.com"],
  ],
  "DELETE /api/admin/organizations/:id/invitations/:invitation_id": [
    ({ organization, invitation }) => ["invitations", "withdraw", organization, invitation],
  ],
  "GET /api/admin/teams": [() => ["teams", "all"]],
  "GET /api/admin/organizations/:id/teams": [({ organization }) => ["teams", "list", organization]],
  "POST /api/admin/organizations/:id/teams": [
    ({ organization }) => ["teams", "create", organization, "Data", "--tags", "team:data"],
  ],
  "GET /api/admin/organizations/:id/teams/:team_id": [({ team }) => ["teams", "show", team]],
  "PATCH /api/admin/organizations/:id/teams/:team_id": [
    ({ team }) => ["teams", "update", team, "--denied-models", "openai/*", "--requests-per-minute", "60"],
  ],
  "DELETE /api/admin/organizations/:id/teams/:team_id": [({ otherTeam }) => ["teams", "delete", otherTeam]],
  "GET /api/admin/organizations/:id/teams/:team_id/members": [({ team }) => ["teams", "members", team]],
  "PUT /api/admin/organizations/:id/teams/:team_id/members/:user_id": [
    ({ team, user }) => ["teams", "add", team, user, "--lead"],
  ],
  "DELETE /api/admin/organizations/:id/teams/:team_id/members/:user_id": [
    ({ team, user }) => ["teams", "remove", team, user],
  ],
  "POST /api/admin/budgets": [
    ({ organization }) => ["budgets", "create", "--account", organization, "--limit", "5"],
    ({ key }) => ["budgets", "create", "--key", key, "--limit", "5", "--period", "rolling", "--days", "7"],
    ({ user }) => ["budgets", "create", "--account", user, "--end-user", "*", "--limit", "1"],
  ],
  "GET /api/admin/budgets": [() => ["budgets", "list"], ({ user }) => ["budgets", "list", "--account", user]],
  "GET /api/admin/budgets/:id": [({ budget }) => ["budgets", "show", budget]],
  "PATCH /api/admin/budgets/:id": [
    ({ budget }) => ["budgets", "update", budget, "--limit", "7.5", "--action", "warn", "--warn-at", "0.5"],
  ],
  "DELETE /api/admin/budgets/:id": [({ budget }) => ["budgets", "delete", budget]],
  "GET /api/admin/organizations/:id/members": [({ organization }) => ["members", "list", organization]],
  "GET /api/admin/organizations/:id/members/:user_id": [
    ({ organization, user }) => ["members", "show", organization, user],
  ],
  "DELETE /api/admin/organizations/:id/members/:user_id": [
    ({ organization, user }) => ["members", "remove", organization, user],
  ],
  "GET /api/admin/keys": [() => ["keys", "list"]],
  "POST /api/admin/keys": [() => ["keys", "create", "laptop"]],
  "POST /api/admin/keys/:id/rotate": [
    ({ key }) => ["keys", "rotate", key, "--overlap-hours", "72"],
    ({ key }) => ["keys", "rotate", key, "--now"],
  ],
  "PATCH /api/admin/keys/:id": [
    ({ key }) => ["keys", "update", key, "--spend-limit", "2.50", "--prompt-log", "60"],
  ],
  "DELETE /api/admin/keys/:id": [({ key }) => ["keys", "revoke", key]],
  "GET /api/admin/keys/:id": [({ key }) => ["keys", "show", key]],
  "GET /api/admin/generations": [({ user }) => ["requests", "list", "--account", user]],
  "GET /api/admin/generations/:id": [({ generation }) => ["requests", "show", generation]],
  "GET /api/admin/generations/histogram": [() => ["requests", "count"]],
  // Runs until it is interrupted. Tested in requests-tail.test.ts.
  "GET /api/admin/generations/stream": [],
  "GET /api/admin/generations/:id/bodies": [({ generation }) => ["prompt-log", generation]],
  "GET /api/admin/responses": [({ user }) => ["responses", "list", "--account", user]],
  "GET /api/admin/responses/usage": [({ user }) => ["responses", "usage", user]],
  "GET /api/admin/responses/:id": [({ response }) => ["responses", "show", response]],
  "GET /api/admin/responses/:id/items": [({ response }) => ["responses", "items", response]],
  "POST /api/admin/responses/:id/cancel": [({ response }) => ["responses", "cancel", response]],
  "DELETE /api/admin/responses/:id": [({ otherResponse }) => ["responses", "delete", otherResponse]],
  "GET /api/admin/rejections": [() => ["requests", "list", "--rejected"]],
  "GET /api/admin/rejections/:id": [({ rejected }) => ["requests", "show", rejected]],
  "GET /api/admin/audit": [() => ["audit", "list"]],
  "GET /api/admin/audit/verify": [() => ["audit", "verify"]],
  "POST /api/admin/accounts/:id/credits": [
    ({ user }) => ["credits", "grant", user, "5", "--expires", "2199-01-01"],
  ],
  "POST /api/admin/accounts/:id/purchases": [
    ({ user }) => ["credits", "purchase", user, "20", "--id", "pay_1"],
  ],
  "POST /api/admin/accounts/:id/corrections": [
    ({ user }) => ["credits", "correct", user, "-1.5", "--note", "by hand"],
  ],
  "POST /api/admin/generations/:id/refund": [({ generation }) => ["credits", "refund", generation]],
  "GET /api/admin/accounts/:id/balance": [({ user }) => ["credits", "balance", user]],
  "GET /api/admin/balances": [() => ["credits", "balances"]],
  "GET /api/admin/accounts/:id/ledger": [
    ({ user }) => ["ledger", user],
    ({ user }) => ["credits", "list", user],
  ],
  // What a running gateway holds: `ledger holds` asks it.
  "GET /api/admin/holds": [() => ["holds"]],
  "GET /api/admin/ledger/check": [() => ["ledger", "check"]],
  "GET /api/admin/usage": [() => ["usage", "--by", "model"]],
  // Signed by the payment system; `credits purchase` records what it has not reported.
  "POST /api/payments/webhook": [],
  // What a key may ask of itself.
  "GET /key": [],
  "GET /credits": [({ user }) => ["credits", "balance", user]],
  "GET /activity": [({ user }) => ["usage", "--account", user]],
  // How commands find a team by its name.
  // How commands find a provider key by its name.
  "GET /api/admin/provider-keys": [],
  "GET /api/admin/accounts/:id/provider-keys": [({ user }) => ["provider-keys", "list", "--account", user]],
  // Reads the secret from standard input. Tested in provider-keys.test.ts.
  "POST /api/admin/accounts/:id/provider-keys": [],
  "PATCH /api/admin/accounts/:id/provider-keys/:key_id": [
    ({ providerKey }) => ["provider-keys", "update", providerKey, "--enabled", "no", "--models", "openai/*"],
  ],
  // Calls the provider. Tested in provider-keys.test.ts.
  "POST /api/admin/accounts/:id/provider-keys/:key_id/test": [],
  "DELETE /api/admin/accounts/:id/provider-keys/:key_id": [
    ({ providerKey }) => ["provider-keys", "remove", providerKey],
  ],
  "GET /api/admin/gateways": [() => ["gateways", "list"]],
  // Ask a running gateway. Tested in health.test.ts.
  "GET /api/admin/health": [],
  "POST /api/admin/health/:provider/test": [],
  "POST /api/admin/health/:provider/drain": [],
  "DELETE /api/admin/health/:provider/drain": [],
  "POST /api/admin/health/:provider/clear": [],
  "GET /api/admin/health/history": [() => ["health", "history"]],
  "GET /api/admin/incidents": [() => ["health", "incidents"]],
  // Ask a running gateway. Tested in webhooks.test.ts.
  "GET /api/admin/webhooks": [],
  "POST /api/admin/webhooks/test": [],
  // A command is no browser.
  "POST /api/console/invitations/preview": [],
  "POST /api/console/invitations/accept": [],
  "POST /api/console/session": [],
  "GET /api/console/session": [],
  "DELETE /api/console/session": [],
  "POST /api/console/oidc/trials": [],
  "GET /api/console/oidc/trials/:id": [],
  // A command can create a key as it is wanted.
  "POST /api/console/playground-key": [],
  "POST /api/admin/users/:id/identities": [
    ({ user }) => ["identities", "add", user, "subject", "--issuer", "https://id.example"],
  ],
  "GET /api/admin/identities": [() => ["identities", "list"]],
  "DELETE /api/admin/users/:id/identities/:subject": [
    ({ user }) => ["identities", "remove", user, "subject", "--issuer", "https://id.example"],
  ],
  "GET /api/admin/sessions": [() => ["sessions", "list"]],
  "DELETE /api/admin/sessions/:id": [({ session }) => ["sessions", "end", session]],
  "GET /api/admin/tiers": [() => ["tiers", "list"]],
  "PUT /api/admin/tiers/:id": [({ tierFile }) => ["tiers", "set", "gateway-auto/fast", "--file", tierFile]],
  "GET /api/admin/tiers/:id": [() => ["tiers", "show", "gateway-auto/fast"]],
  "DELETE /api/admin/tiers/:id": [() => ["tiers", "delete", "gateway-auto/fast"]],
  "GET /api/admin/named-routes": [() => ["named-routes", "list"]],
  "PUT /api/admin/named-routes/:name": [
    () => ["named-routes", "set", "fast", "--target", "acme/one"],
    ({ user, routeFile }) => ["named-routes", "set", "fast", "--account", user, "--file", routeFile],
  ],
  "GET /api/admin/named-routes/:name": [() => ["named-routes", "show", "fast"]],
  "GET /api/admin/named-routes/:name/versions": [() => ["named-routes", "versions", "fast"]],
  "POST /api/admin/named-routes/:name/restore": [
    ({ user }) => ["named-routes", "restore", "fast", "1", "--account", user],
  ],
  "DELETE /api/admin/named-routes/:name": [
    ({ user }) => ["named-routes", "delete", "fast", "--account", user],
  ],
  // Depends on the health that a running gateway has measured.
  "POST /api/admin/route/explain": [],
  "POST /api/admin/policy/dry-run": [
    ({ user }) => ["policy", "dry-run", "--account", user, "--policy", '{"denied_models":["openai/*"]}'],
  ],
  "GET /api/admin/settings": [() => ["config", "sources", "--all"]],
  "GET /api/admin/config": [() => ["config", "show"]],
  "PATCH /api/admin/config": [
    () => ["config", "set", "limits.attempts", "3"],
    () => ["config", "unset", "limits.attempts"],
  ],
  "PUT /api/admin/config": [({ configFile }) => ["config", "apply", configFile, "--yes"]],
  "GET /api/admin/config/export": [() => ["config", "export"]],
  "GET /api/admin/config/providers": [() => ["providers", "list"]],
  "GET /api/admin/config/revisions": [() => ["config", "revisions"]],
  "GET /api/admin/config/revisions/:revision": [() => ["config", "revision", "1"]],
  "POST /api/admin/config/revisions/:revision/restore": [() => ["config", "restore", "1"]],
  "GET /api/admin/config/secrets": [() => ["secrets", "list"]],
  // Reads the secret from standard input. Tested in stored-config.test.ts.
  "PUT /api/admin/config/secrets/:id": [],
  "DELETE /api/admin/config/secrets/:id": [],
  // The schema is for forms, and a running gateway tries what a form has. `health test` tests what is in force.
  "GET /api/admin/config/schema": [],
  "GET /api/admin/organizations/:id/teams/:team_id/candidates": [],
  "POST /api/admin/config/providers/:provider/test": [],
  "POST /api/admin/config/providers/:provider/models": [],
  "POST /api/admin/config/guardrails/try": [],
  // Asks a running gateway. Tested in reload.test.ts.
  "POST /api/admin/settings/reload": [],
  "GET /api/admin/models": [() => ["models", "list"]],
  // Depends on the health that a running gateway has measured.
  "GET /api/admin/models/:author/:model": [],
  "GET /api/admin/catalog": [() => ["catalog", "status"]],
  "POST /api/admin/catalog/refresh": [() => ["catalog", "diff"], () => ["catalog", "refresh"]],
  "GET /api/admin/catalog/changes": [
    () => ["catalog", "pending"],
    () => ["catalog", "pending", "--rejected"],
  ],
  "POST /api/admin/catalog/changes/:id/approve": [
    ({ changes: [approved] }) => ["catalog", "approve", approved],
  ],
  "POST /api/admin/catalog/changes/:id/reject": [
    ({ changes: [, rejected] }) => ["catalog", "reject", rejected],
  ],
};

/** Commands for endpoints outside of the management API. */
const OTHER_COMMANDS = [() => ["console", "--url", "https://gateway.example"], () => ["config", "check"]];

const MODELS = ["gpt-a", "gpt-b"] as const;
const dataDir = await seedCatalog({ openai: MODELS.map((id) => sourceModel(id)) });
/** A source whose prices have jumped. */
const source = startSource({
  openai: MODELS.map((id) => sourceModel(id, { cost: { input: 9, output: 2 } })),
});
const environment = { ...process.env };
let scene: Scene;

beforeAll(async () => {
  for (const name of Object.keys(process.env)) if (name.startsWith("GATEWAY_")) delete process.env[name];
  process.env["GATEWAY_DATA_DIR"] = dataDir;
  Object.assign(process.env, await databaseVariables(dataDir));
  process.env["GATEWAY_SECRETS_KEY"] = MASTER_KEY;
  writeFileSync(join(dataDir, "tier.yaml"), "name: Fast\nrule: {by: free}\n");
  writeFileSync(join(dataDir, "config.yaml"), "limits: { repeats: 2 }\n");
  writeFileSync(join(dataDir, "route.yaml"), "kind: alias\ntarget: acme/one\n");
  const configFile = join(dataDir, "gateway.yaml");
  writeFileSync(configFile, JSON.stringify({ catalog: { source: source.url } }));
  process.env["GATEWAY_CONFIG"] = configFile;
  const make = async (...words: string[]) => (await runJson([...words, "--json"]))["data"] as { id: string };
  const user = (await make("users", "create", "Ada")).id;
  // An organization needs an owner.
  const owner = (await make("users", "create", "Grace")).id;
  const { data: refreshed } = await runJson(["catalog", "refresh", "--json"]);
  const { waiting } = refreshed as { waiting: [{ id: string }, { id: string }] };
  const organization = (await make("orgs", "create", "Acme", "--owner", owner)).id;
  await make("members", "set", organization, user);
  const team = (await make("teams", "create", organization, "Search")).id;
  await make("teams", "add", team, user);
  scene = {
    user,
    organization,
    team,
    otherTeam: (await make("teams", "create", organization, "Short")).id,
    invitation: (await make("invitations", "create", organization)).id,
    key: (await make("keys", "create", "laptop", "--account", user)).id,
    providerKey: "pkey_1",
    generation: "gen_1",
    response: idAt(AT),
    otherResponse: idAt(AT + 1),
    session: "sess_1",
    rejected: requestIdAt(1),
    budget: "budget_1",
    tierFile: join(dataDir, "tier.yaml"),
    routeFile: join(dataDir, "route.yaml"),
    configFile: join(dataDir, "config.yaml"),
    changes: [waiting[0].id, waiting[1].id],
  };
  await seed(user, scene.key);
});
afterAll(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("GATEWAY_")) delete process.env[name];
  delete process.env["DATABASE_URL"];
  Object.assign(process.env, environment);
  source.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");

/** Inserts records that no command creates: a charged generation, its logged bodies, and a BYOK key. */
async function seed(accountId: string, keyId: string): Promise<void> {
  const stores = await openTestStores(dataDir);
  const record = { ...PAID, accountId, keyId };
  await stores.usage.saveUsage([
    { record, json: JSON.stringify(record) },
    // Its kept response has ended.
    ...[{ ...record, id: idAt(AT), outcome: "open" as const, finishedAt: null, costNanodollars: 0 }].map(
      (open) => ({ record: open, json: JSON.stringify(open) }),
    ),
  ]);
  const random = createSystemRandom();
  const vault = createVault(openMasterKeys(loadConfig(process.env), random), random);
  const now = systemClock.now();
  const identity = { id: "gen_1", accountId, keyId, createdAt: now, expiresAt: now + 3_600_000 };
  await stores.consoleSessions.insertSession({
    id: "sess_1",
    hash: "hash",
    keyId,
    keyHash: "hash",
    accountId,
    userId: accountId,
    userAgent: null,
    authenticatedAt: null,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + 3_600_000,
  });
  await stores.healthHistory.addOutcomes([
    {
      ...{ provider: "acme", range: "hour", beganAt: bucketOf("hour", now) },
      ...{ succeeded: 1, failed: 1, rateLimited: 0, keyRefused: 0 },
    },
  ]);
  const failure = { type: "upstream_error", status: 500 };
  await stores.healthHistory.reportIncident({
    ...{ id: "inc_1", provider: "acme", observer: "gateway_1", isSeen: true, isContinued: false },
    ...{ level: "down", models: ["acme/model"], at: now },
    failures: [{ ...failure, count: 1 }],
    sample: { ...failure, at: now, model: "acme/model", message: "broken", generationId: "gen_1" },
    ...{ failedAttempts: 1, savedRequests: 0, failedRequests: 1 },
  });
  await stores.rejections.addRejections([rejectionAt(1, { accountId, userId: accountId, keyId })]);
  await stores.budgets.insertBudget({
    ...{ id: "budget_1", accountId, name: "All", subject: "account", subjectId: null, endUser: null },
    ...{ limit: 1_000, period: "month", days: null, action: "block", warnAt: 800, setBy: "operator" },
    createdAt: now,
  });
  const bodies = { request: "{}", requestTruncated: false, response: "{}", responseTruncated: false };
  await stores.promptLog.addEntries(sealEntries({ vault, random }, [{ identity, bodies }]));
  await addResponses(stores.responses, { vault, random }, { accountId, userId: accountId, keyId });
  await stores.providerKeys.insertProviderKey({
    id: "pkey_1",
    accountId,
    provider: "openai",
    name: "Ours",
    lastFour: "cdef",
    sealed: { masterKeyId: "gone", ciphertext: "" },
    order: 0,
    enabled: true,
    models: null,
    members: null,
    teams: null,
    createdAt: 0,
    updatedAt: 0,
    lastUsedAt: null,
    lastError: null,
  });
  await stores.close();
}

/** Adds two responses to a conversation. */
async function addResponses(
  store: ResponseStore,
  { vault, random }: Pick<ManageDeps, "vault" | "random">,
  owner: ObjectOwner,
): Promise<void> {
  const expiresAt = systemClock.now() + 3_600_000;
  const sealFor = (id: string) => ObjectSeal.create(vault, random, { id, accountId: owner.accountId });
  const seal = sealFor("conv_1");
  const conversation = { sealed: seal.sealed, ciphertext: seal.sealText("{}") };
  await store.addConversation(conversationOf("conv_1", { ...owner, ...conversation, expiresAt }), 1e9);
  for (const sequence of [0, 1]) {
    const id = idAt(AT + sequence);
    const own = sealFor(id);
    const content = {
      input: ['{"type":"message"}'],
      output: ['{"type":"message"}'],
      response: "{}",
      handovers: {},
    };
    const object = objectAt(sequence, {
      ...{ id, ...owner, rootId: "conv_1", conversationId: "conv_1", sequence },
      ...{ previousId: sequence === 0 ? null : idAt(AT), isBackground: true, expiresAt },
      ...{ sealed: own.sealed, ciphertext: own.sealContent(content) },
    });
    await store.addObject(object, [], 1_000);
  }
}

const PAID: UsageRecord = {
  id: "gen_1",
  requestId: "req_1",
  accountId: null,
  keyId: null,
  userId: null,
  addressHash: null,
  api: "chat.completions",
  streamed: false,
  requestedModel: "acme/model",
  model: "acme/model",
  provider: "acme",
  upstreamModel: "model",
  outcome: "completed",
  error: null,
  status: 200,
  finishReason: "stop",
  nativeFinishReason: "stop",
  isByok: false,
  costNanodollars: 1_000_000,
  upstreamCostNanodollars: 1_000_000,
  prices: { prompt: "0.0001", completion: "0.0001" },
  promptTokens: 5,
  completionTokens: 5,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  audioPromptTokens: 0,
  audioCompletionTokens: 0,
  imageCompletionTokens: 0,
  images: 0,
  searches: 0,
  searchContext: null,
  estimated: false,
  createdAt: systemClock.now(),
  firstTokenAt: systemClock.now(),
  finishedAt: systemClock.now(),
  plan: [],
  attempts: [],
};

/** Runs a command in this process. */
async function run(words: readonly string[]): Promise<{ exitCode: number; output: string }> {
  const log = spyOn(console, "log").mockImplementation(() => {});
  const error = spyOn(console, "error").mockImplementation(() => {});
  try {
    const exitCode = await runCli(words);
    const lines = [...log.mock.calls, ...error.mock.calls].flat().map(String);
    return { exitCode, output: lines.join("\n") };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

async function runJson(words: readonly string[]): Promise<Record<string, unknown>> {
  const { exitCode, output } = await run(words);
  expect([words.join(" "), exitCode, exitCode === 0 ? "" : output]).toEqual([words.join(" "), 0, ""]);
  return JSON.parse(output) as Record<string, unknown>;
}

test("the command table has exactly one row for each management endpoint", () => {
  const endpoints = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(COMMANDS).sort()).toEqual(endpoints.sort());
});

/** The management endpoints that no command renders. */
const WITHOUT_COMMAND = [
  // Sign-in, feeds, and the keys of the playground.
  ...["POST", "GET", "DELETE"].map((method) => `${method} /api/console/session`),
  "POST /api/console/playground-key",
  ...["preview", "accept"].map((word) => `POST /api/console/invitations/${word}`),
  ...["POST /api/console/oidc/trials", "GET /api/console/oidc/trials/:id"],
  "GET /api/admin/generations/stream",
  // Signed by the payment system, or asked by a key about itself.
  ...["POST /api/payments/webhook", "GET /key", "GET /credits", "GET /activity"],
  // `requests list --rejected` and `requests show` ask them besides those of generations.
  ...["GET /api/admin/rejections", "GET /api/admin/rejections/:id"],
  // Tells a person about themselves.
  "GET /api/admin/me",
  // Commands find provider keys by their names.
  "GET /api/admin/provider-keys",
  // For the forms of the console.
  "GET /api/admin/organizations/:id/teams/:team_id/candidates",
  "GET /api/admin/config/schema",
  ...["providers/:provider/test", "providers/:provider/models", "guardrails/try"].map(
    (path) => `POST /api/admin/config/${path}`,
  ),
];

test("every management endpoint is rendered by a command, but for a few that no operator types", async () => {
  const found = new Set<string>();
  const visit = (command: Command): void => {
    const endpoint = endpointOf(command);
    if (endpoint !== undefined) found.add(`${endpoint.method} ${endpoint.path}`);
    for (const part of command.commands) visit(part);
  };
  for (const { term, load } of COMMAND_GROUPS.flatMap(({ commands }) => commands)) {
    const command = new Command(term.split(" ", 1).join());
    (await load())(command);
    visit(command);
  }
  const all = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  expect(all.filter((one) => !found.has(one)).sort()).toEqual([...WITHOUT_COMMAND].sort());
});

test("the help lists every group of commands", async () => {
  const words = [...Object.values(COMMANDS).flat(), ...OTHER_COMMANDS].map((command) =>
    command(PLACEHOLDERS),
  );
  const write = spyOn(process.stdout, "write").mockImplementation(() => true);
  try {
    await runCli(["--help"]);
    const help = write.mock.calls.flat().map(String).join("");
    for (const [group] of words) expect(help).toMatch(new RegExp(`^  ${group} `, "m"));
  } finally {
    write.mockRestore();
  }
});

interface Entry {
  readonly place: number;
  readonly action: string;
}

/** Returns the newest entry of the audit log. */
async function readLastEntry(): Promise<Entry> {
  const { data } = (await runJson(["audit", "list", "--limit", "1", "--json"])) as { readonly data: [Entry] };
  return data[0];
}

/** What the commands have printed with `--json`. */
const printed: Printed[] = [];

const COMMAND_NAMES = new Set((await listCommands()).map(({ path: [name] }) => name));

/** Returns the words that name a command, without its arguments and options. */
function nameCommand([group = "", ...rest]: readonly string[]): string {
  const ofGroup = `${group} ${rest[0]}`;
  return COMMAND_NAMES.has(ofGroup) ? ofGroup : group;
}

describe("every command", () => {
  const rows = [...Object.values(COMMANDS).flat(), ...OTHER_COMMANDS];
  const changes = new Set(
    Object.entries(COMMANDS).flatMap(([endpoint, commands]) =>
      endpoint.startsWith("GET ") || endpoint.endsWith("/dry-run") ? [] : commands,
    ),
  );

  test.each(rows.map((words) => [words(PLACEHOLDERS).join(" "), words] as const))(
    "prints a table by default and JSON with --json: %s",
    async (_name, words) => {
      const wanted = words(scene);
      const before = await readLastEntry();
      const json = await runJson([...wanted, "--json"]);
      const { place, action } = await readLastEntry();
      if (changes.has(words))
        expect([action, place > before.place]).toEqual([`gateway ${nameCommand(wanted)}`, true]);
      printed.push({ command: nameCommand(wanted), json });
      expect(json["data"]).toBeDefined();
      if (isOnce(wanted)) return;
      const { exitCode, output } = await run(wanted);
      expect([exitCode, output === ""]).toEqual([0, false]);
      expect(() => JSON.parse(output)).toThrow();
    },
  );

  test("prints JSON in the form that docs/surface/command-output.txt promises", () => {
    expectPromisedOutput(printed);
  });

  test("leaves a valid audit log with an entry for each change", async () => {
    const { data } = await runJson(["audit", "list", "--limit", "100", "--json"]);
    const actions = new Set((data as { action: string }[]).map(({ action }) => action));
    for (const action of [
      "credits grant",
      "credits correct",
      "credits purchase",
      "credits refund",
      "keys revoke",
      "catalog refresh",
      "catalog approve",
      "catalog reject",
    ])
      expect(actions).toContain(`gateway ${action}`);
    for (const action of [
      "provider-keys update",
      "provider-keys remove",
      "members remove",
      "tiers set",
      "tiers delete",
      "named-routes set",
      "named-routes restore",
      "named-routes delete",
      "budgets create",
      "budgets update",
      "budgets delete",
    ])
      expect(actions).toContain(`gateway ${action}`);
    expect(await runJson(["audit", "verify", "--json"])).toMatchObject({
      data: { holds: true, broken_at: null },
    });
  });

  test("of the usage report can print CSV", async () => {
    const { output } = await run(["usage", "--by", "model", "--csv"]);
    expect(output.split("\r\n")).toEqual([
      expect.stringMatching(/^model,requests,.*cost/),
      expect.stringMatching(/^acme\/model,1,0,5,5,.*0\.001,0\.001,.*$/),
    ]);
  });
});

/** Placeholders for the test names. */
const PLACEHOLDERS: Scene = {
  user: "<user>",
  organization: "<org>",
  team: "<team>",
  otherTeam: "<team>",
  invitation: "<invitation>",
  key: "<key>",
  providerKey: "<key>",
  generation: "<generation>",
  response: "<response>",
  otherResponse: "<other response>",
  session: "<session>",
  rejected: "<request>",
  budget: "<budget>",
  tierFile: "<file>",
  routeFile: "<file>",
  configFile: "<file>",
  changes: ["<change>", "<other change>"],
};

/** Returns whether a command can be run only once on a resource. */
function isOnce([group, word]: readonly string[]): boolean {
  if (group === "catalog") return word === "approve" || word === "reject";
  if (group === "sessions") return word === "end";
  if (group === "identities") return word !== "list";
  if (group === "responses") return word === "delete";
  if (group === "invitations") return word === "withdraw";
  if (group === "teams") return word === "create" || word === "delete" || word === "remove";
  if (group === "tiers" || group === "named-routes" || group === "budgets") return word === "delete";
  return word === "remove" && (group === "members" || group === "provider-keys");
}
