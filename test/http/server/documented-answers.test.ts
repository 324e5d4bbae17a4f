import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { z } from "zod";
import { Model } from "../../../src/core/catalog/present/model-view.ts";
import { RouteExplanation } from "../../../src/http/api/route-explanation.ts";
import { writeCurlExample } from "../../../src/http/docs-page/curl-example.ts";
import { describeApi, OPERATIONS } from "../../../src/http/openapi/describe-api.ts";
import { ErrorBody, MessagesErrorBody, ResponsesErrorBody } from "../../../src/http/openapi/errors.ts";
import { ChatChunk } from "../../../src/http/openapi/inference-schemas.ts";
import { ModelEndpoints } from "../../../src/http/openapi/list-schemas.ts";
import type { Operation } from "../../../src/http/openapi/operation.ts";
import { ENDPOINTS } from "../../../src/http/routes/endpoints.ts";
import { seedCatalog, startSource, type TestSource } from "../../catalog/seed-catalog.ts";
import { sourceModel } from "../../catalog/source-fixture.ts";
import { postChat, readEvents, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { callWithSession, findSessionId, signIn } from "../../support/gateway/sign-in.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/servers/webhook-receiver.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";
import { documentOf, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const WEBHOOK_SECRET = "a-secret-for-the-documented-answers-0123456789";
const DOCUMENT = describeApi();

let gateway: TestGateway;
let receiver: WebhookReceiver;
let oidc: TestOidcProvider;
let vendor: Vendor;
let source: TestSource;
/** A kept response that a management key deletes. */
let managed: string;
let variables: Readonly<Record<string, string>>;
/** Held changes of the catalog, one for each decision. */
let changes: readonly { readonly id: string }[];

/** Creates one of each resource that a path can name. */
beforeAll(async () => {
  vendor = startVendor((call) =>
    call.respond(200, call.head.includes("/models ") ? { data: [{ id: "gpt" }] } : documentOf("Filled in")),
  );
  const models = (cost: object) => ({
    openai: ["gpt-4o-mini", "gpt-4.1"].map((id) => sourceModel(id, { cost })),
    mistral: [sourceModel("codestral-latest")],
  });
  source = startSource(models({ input: 9, output: 2 }));
  receiver = startWebhookReceiver();
  oidc = await startOidcProvider();
  gateway = await startTestGateway({
    dataDir: await seedCatalog(models({ input: 1, output: 2 })),
    yaml: JSON.stringify({
      sandbox: "on",
      billing: { webhook_secret: WEBHOOK_SECRET },
      catalog: { source: source.url },
      webhooks: [{ url: receiver.url, format: "slack" }],
    }),
    environment: {
      MISTRAL_API_KEY: "sk-mistral",
      MISTRAL_BASE_URL: vendor.baseUrl,
      OPENAI_API_KEY: "sk-openai",
      OPENAI_BASE_URL: vendor.baseUrl,
    },
  });
  const create = createAccountTools(gateway);
  const [user, owner] = [await create.user(), await create.user("Grace")];
  const organization = await create.organization(owner);
  await create.member(organization, user, "billing");
  const team = await callAdmin(gateway, gateway.adminKey, "POST", `/organizations/${organization}/teams`, {
    name: "Research",
  });
  const invite = () =>
    callAdmin(gateway, gateway.adminKey, "POST", `/organizations/${organization}/invitations`, {});
  const make = async (path: string, body: unknown) =>
    (await callAdmin(gateway, gateway.adminKey, "POST", path, body)).data.id;
  const refreshed = await callAdmin(gateway, gateway.adminKey, "POST", "/catalog/refresh", {});
  ({ waiting: changes } = refreshed.data as unknown as { waiting: typeof changes });
  await callAdmin(gateway, gateway.adminKey, "PUT", "/named-routes/gpt-4o", {
    kind: "alias",
    target: "sandbox/echo",
  });
  const logged = await create.key("acct_default", { prompt_log: 3600 });
  const asked = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] };
  const generation = (await (
    await postChat(gateway, asked, { authorization: `Bearer ${logged}` })
  ).json()) as { readonly id: string };
  const makeOwn = async (path: string, body: object) => {
    const answer = await fetch(gateway.base + path, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { readonly id: string; readonly first_id: string };
  };
  const conversation = await makeOwn("/conversations", {});
  managed = (await makeOwn("/responses", { model: "sandbox/echo", input: "Hello!", store: true })).id;
  const rejected = await postChat(gateway, { ...asked, temperature: "hot" });
  const recording = join(makeTempFolder("recording-"), "speech.wav");
  await Bun.write(recording, "RIFF");
  variables = {
    FILE: recording,
    GATEWAY_URL: gateway.url,
    GATEWAY_WEBHOOK_SECRET: WEBHOOK_SECRET,
    INFERENCE_KEY: gateway.key,
    MANAGEMENT_KEY: gateway.adminKey,
    USER_ID: user,
    ACCOUNT_ID: user,
    ORGANIZATION_ID: organization,
    TEAM_ID: team.data.id,
    INVITATION_ID: (await invite()).data.id,
    INVITATION_CODE: String((await invite()).body["link"]).split("#code=")[1] ?? "",
    KEY_ID: await make("/keys", { name: "k", account_id: organization }),
    BUDGET_ID: await make("/budgets", { account_id: organization, limit: 10 }),
    PROVIDER_KEY_ID: await make(`/accounts/${user}/provider-keys`, {
      provider: "openai",
      key: "sk-0123456789",
      models: ["openai/gpt-4o-mini"],
    }),
    GENERATION_ID: generation.id,
    RESPONSE_ID: (await makeOwn("/responses", { model: "sandbox/echo", input: "Hello!", background: true }))
      .id,
    CONVERSATION_ID: conversation.id,
    ITEM_ID: (
      await makeOwn(`/conversations/${conversation.id}/items`, { items: [{ role: "user", content: "Hi" }] })
    ).first_id,
    REJECTION_ID: rejected.headers.get("x-request-id") ?? "",
    CONSOLE_SESSION: (await signIn(gateway, { key: gateway.adminKey })).cookie.split("=")[1] ?? "",
    OIDC_ISSUER: oidc.issuer,
    OIDC_CLIENT_SECRET: "secret",
    CLIENT_ID: "gateway",
    TRIAL_ID: await beginTrial(),
    SESSION_ID: await findSessionId(gateway, await signIn(gateway, { key: gateway.adminKey })),
  };
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
  source.stop();
  await receiver.stop();
  oidc.stop();
});

/** Begins a trial sign-in. Returns its id. */
async function beginTrial(): Promise<string> {
  const session = await signIn(gateway, { key: gateway.adminKey });
  const settings = { issuer: oidc.issuer, client_id: "gateway", client_secret: "secret" };
  const call = { method: "POST", path: "/api/console/oidc/trials", body: settings };
  const { body } = await callWithSession(gateway, session, call);
  return (body["data"] as { readonly id: string }).id;
}

/** Runs the curl example of an operation in a shell. */
async function runExample({ method, path, responses }: Operation): Promise<{ status: number; body: string }> {
  const address = path.replace(/:(\w+)/g, "{$1}");
  const operation = DOCUMENT.paths[address]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
  const example = writeCurlExample({ method, path: address, operation }, DOCUMENT.components.schemas);
  const change = changes[path.endsWith("/approve") ? 0 : 1]?.id ?? "";
  // Its key deletes the other one.
  const kept = method === "DELETE" && path.startsWith("/api/admin/") ? { RESPONSE_ID: managed } : {};
  // A stream that does not end by itself is left after a second.
  const most = responses[0]?.mediaType === "text/event-stream" ? "--max-time 1" : "";
  const child = Bun.spawn(["sh", "-c", `${example} ${most} -w '\\n%{http_code}'`], {
    env: { PATH: process.env["PATH"] ?? "", ...variables, CHANGE_ID: change, ...kept },
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = await child.stdout.text();
  const end = output.lastIndexOf("\n");
  return { status: Number(output.slice(end + 1)), body: output.slice(0, end) };
}

/** Checks that a body has all fields of a schema, and no other. */
function expectToFit(schema: z.ZodType, body: unknown): void {
  const parsed = schema.safeParse(body);
  expect(parsed.error?.issues ?? []).toEqual([]);
  // `data` lacks the fields that the schema does not have.
  expect(body).toEqual(parsed.data);
}

describe("the examples of the OpenAPI document", () => {
  // Deletions come last.
  const inOrder = [...OPERATIONS].sort(
    (a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"),
  );

  test.each(inOrder.map((operation) => [operation.method, operation.path, operation] as const))(
    "%s %s succeeds as printed, and its response matches the schema",
    async (_method, _path, operation) => {
      const { status, body } = await runExample(operation);
      const answer = operation.responses.find((one) => one.status === status);
      expect([status, answer === undefined ? body : ""]).toEqual([
        operation.responses[0]?.status as number,
        "",
      ]);
      if (answer?.schema) expectToFit(answer.schema, JSON.parse(body));
    },
  );
});

describe("responses that contain every kind of resource match their schemas", () => {
  test.each(
    ENDPOINTS.filter(
      ({ method, path, events }) => method === "GET" && !path.includes(":") && events === undefined,
    ).map((endpoint) => [endpoint.path, endpoint] as const),
  )("GET %s", async (path, { response, everyPrefix, access }) => {
    const key = everyPrefix ? gateway.key : gateway.adminKey;
    const credentials: Record<string, string> =
      access.kind === "console_session"
        ? { cookie: (await signIn(gateway, { key })).cookie }
        : { authorization: `Bearer ${key}` };
    const answer = await fetch(`${gateway.url}${everyPrefix ? "/api/gateway" : ""}${path}`, {
      headers: credentials,
    });
    expect(answer.status).toBe(200);
    expectToFit(response, await answer.json());
  });

  test("the usage report by each group matches its schema, and is available as CSV", async () => {
    const usage = ENDPOINTS.find(({ path }) => path === "/api/admin/usage");
    for (const group of [
      "hour",
      "day",
      "model",
      "provider",
      "key",
      "user",
      "account",
      "outcome",
      "hour,key,outcome",
    ]) {
      const answer = await callAdmin(gateway, gateway.adminKey, "GET", `/usage?group_by=${group}`);
      expect(answer.rows.length).toBeGreaterThan(0);
      expectToFit(usage?.response as z.ZodType, answer.body);
    }
    const csv = await fetch(`${gateway.url}/api/admin/usage?format=csv`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    expect(csv.headers.get("content-type")).toStartWith("text/csv");
  });

  test("a model list with a tier, its model endpoints, and the explanation of its route match their schemas", async () => {
    const models = (await (await fetch(`${gateway.base}/models`)).json()) as { data: { id: string }[] };
    const tier = models.data.find(({ id }) => id === "gateway-auto/frontier");
    expectToFit(Model, tier);
    expect(tier).toHaveProperty("resolves_to");
    const endpoints = await fetch(`${gateway.base}/models/gateway-auto/frontier/endpoints`);
    expectToFit(ModelEndpoints, await endpoints.json());
    const explain = async (model: string, provider: object) => {
      const answer = await fetch(`${gateway.base}/route/explain`, {
        method: "POST",
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }], provider }),
        headers: { authorization: `Bearer ${gateway.key}` },
      });
      expect(answer.status).toBe(200);
      const { data } = (await answer.json()) as { data: Record<string, unknown> };
      expectToFit(RouteExplanation, data);
      return data;
    };
    const { candidates } = await explain("gateway-auto/frontier", {});
    expect(candidates).toMatchObject([{ model: "sandbox/echo", reason: "only" }]);
    expect(await explain("openai/gpt-4.1", { ignore: ["openai"], require_parameters: true })).toMatchObject({
      candidates: [],
      left_out: [{ provider: "openai", reason: "provider_rules" }],
      error: { type: expect.any(String) },
    });
  });

  test("every gateway header of a generation is documented", async () => {
    const messages = [{ role: "user", content: "Hello!" }];
    const answer = await postChat(gateway, { model: "sandbox/echo", messages });
    const names = Object.keys(DOCUMENT.components.headers);
    const ours = [...answer.headers.keys()].filter((name) => /^x-(?:gateway|ratelimit|request)/.test(name));
    expect(ours).toContain("x-gateway-route");
    expect(ours.filter((name) => !names.includes(name))).toEqual([]);
  });

  test("the events of a stream match the chunk schema", async () => {
    const messages = [{ role: "user", content: "Hello!" }];
    const events = await readEvents(
      await postChat(gateway, { model: "sandbox/echo", messages, stream: true }),
    );
    expect(events.length).toBeGreaterThan(2);
    for (const event of events) if (event !== "[DONE]") expectToFit(ChatChunk, JSON.parse(event));
  });

  test("errors match the error schema of their API", async () => {
    const wrong = { method: "POST", body: "{}", headers: { authorization: `Bearer ${gateway.key}` } };
    for (const [path, schema] of [
      ["/chat/completions", ErrorBody],
      ["/embeddings", ErrorBody],
      ["/messages", MessagesErrorBody],
      ["/messages/count_tokens", MessagesErrorBody],
      ["/responses", ResponsesErrorBody],
    ] as const) {
      const answer = await fetch(gateway.base + path, wrong);
      expect([path, answer.status]).toEqual([path, 400]);
      expectToFit(schema, await answer.json());
    }
    for (const [path, key, status] of [
      ["/users/user_none", gateway.adminKey, 404],
      ["/users?limit=0", gateway.adminKey, 400],
      ["/users", null, 401],
      ["/users", gateway.key, 403],
    ] as const) {
      const answer = await callAdmin(gateway, key, "GET", path);
      expect([path, answer.status]).toEqual([path, status]);
      expectToFit(ErrorBody, answer.body);
    }
  });
});
