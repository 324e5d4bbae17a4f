import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AskableApi, CLIENT_APIS, yamlForAllApis } from "../../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type ApiAnswer, callAdmin } from "../../support/gateway/management.ts";
import { prepareData } from "../../support/gateway/prepared-data.ts";
import { createWorkspace } from "../../support/gateway/run-gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

/** Names that were in the catalog when they were stored, and no longer are. */
const WITHDRAWN = {
  policy: { deniedModels: ["gone/model", "gone/*"], allowedProviders: ["gone-host", "vendor"] },
  keyModels: ["gone/model", "acme/*"],
};

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  const { dataDir, keys } = await prepareData([{}, WITHDRAWN]);
  gateway = await startTestGateway({
    dataDir,
    key: keys[0]?.[0] ?? "",
    yaml: `${yamlForAllApis(vendor.baseUrl)}
named_routes:
  chat: { kind: alias, target: acme/model }
  chat-large: { kind: alias, target: acme/model }
`,
  });
});
beforeEach(() => vendor.reset());
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const admin = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

function ask(api: AskableApi, more: Readonly<Record<string, unknown>>): Promise<Response> {
  const base = api.path.startsWith("/fim") ? `${gateway.url}/api` : gateway.base;
  return fetch(`${base}${api.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify(api.body(api.model, more)),
  });
}

const COUNTING: AskableApi = {
  ...(CLIENT_APIS.find(({ name }) => name === "messages") as AskableApi),
  name: "count_tokens",
  path: "/messages/count_tokens",
  body: (model, more) => ({ model, messages: [{ role: "user", content: "Hello!" }], ...more }),
};

describe("a provider in the rules of a request", () => {
  const everywhere = [...CLIENT_APIS, COUNTING].flatMap((api) =>
    (["only", "ignore", "order"] as const).map((list) => [list, api.name, api] as const),
  );
  test.each(everywhere)(
    "is rejected with 400 and suggestions if provider.%s of %s has an unknown slug, and no upstream is called",
    async (list, _name, api) => {
      const response = await ask(api, { provider: { [list]: ["vendor", "mistral", "antropic"] } });
      expect(response.status).toBe(400);
      const answer = await response.json();
      expect(api.readError(answer).message).toMatch(
        `provider.${list}[2] names no provider that this gateway knows: "antropic". Did you mean "anthropic"`,
      );
      expect(vendor.requests).toHaveLength(0);
    },
  );

  test("may be unconfigured and in any letter case, and may not be a pattern", async () => {
    const [chat] = CLIENT_APIS as readonly [AskableApi];
    const known = await ask(chat, { provider: { order: ["Anthropic", "VENDOR"], ignore: ["openai"] } });
    expect([known.status, known.headers.get("x-gateway-provider")]).toEqual([200, "vendor"]);
    const pattern = await ask(chat, { provider: { ignore: ["*"] } });
    expect(pattern.status).toBe(400);
    const slugs = Array.from({ length: 201 }, () => "openai");
    expect((await ask(chat, { provider: { ignore: slugs.slice(1) } })).status).toBe(200);
    const many = await ask(chat, { provider: { ignore: slugs } });
    expect([many.status, await many.text()]).toEqual([
      400,
      expect.stringContaining("provider.ignore has 201 providers; at most 200 are accepted."),
    ]);
  });
});

/** Returns the status, field and message of a rejection. */
function readRejection({ status, body }: ApiAnswer): [number, string, string] {
  const { message, metadata } = body["error"] as { message: string; metadata: { field: string } };
  return [status, metadata.field, message];
}

describe("a policy", () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      "denied_models",
      { denied_models: ["acme/model", "openai/gpt-5.1-codx"] },
      /\[1\].*"openai\/gpt-5\.1-codex"/,
    ],
    ["allowed_models", { allowed_models: ["acme/modell"] }, /\[0\].*Did you mean "acme\/model"/],
    ["denied_models", { denied_models: ["opnai/*"] }, /no id begins with "opnai\/".*"openai\/\*"/],
    ["denied_models", { denied_models: ["gpt-*"] }, /no id begins with "gpt-"/],
    ["denied_models", { denied_models: ["gateway-auto/fronteer"] }, /Did you mean "gateway-auto\/frontier"/],
    ["allowed_providers", { allowed_providers: ["vendor", "amazon-bedrok"] }, /\[1\].*"amazon-bedrock"/],
    ["denied_providers", { denied_providers: ["amazonbed*"] }, /"amazonbed\*"/],
  ])(
    "with an unknown name in %s is rejected with 400, the list's name and suggestions: %o",
    async (list, policy, words) => {
      const user = (await admin("POST", "/users", { name: "Ada" })).data.id;
      const org = (await admin("POST", "/organizations", { name: "Acme" })).data.id;
      for (const answer of [
        await admin("POST", "/users", { name: "Bob", policy }),
        await admin("POST", "/organizations", { name: "Corp", policy }),
        await admin("PATCH", `/users/${user}`, { policy }),
        await admin("PATCH", `/organizations/${org}`, { policy }),
      ]) {
        expect(readRejection(answer)).toEqual([400, `policy.${list}`, expect.stringMatching(words)]);
      }
      expect((await admin("GET", `/users/${user}`)).data["policy"]).toMatchObject({ denied_models: [] });
    },
  );

  test("may name known models, tiers and providers, and future models of a known author", async () => {
    const policy = {
      allowed_models: ["*", "ACME/Model", "openai/gpt-5.1", "openai/gpt-99*", "open*", "*/embed", "*:free"],
      denied_models: ["gateway-auto/frontier", "gateway-auto/*"],
      allowed_providers: ["vendor", "Mistral", "amazon-*", "*"],
    };
    const made = await admin("POST", "/users", { name: "Ada", policy });
    expect([made.status, made.data?.["policy"]]).toEqual([201, expect.objectContaining(policy)]);
  });

  test.each([
    ["policy.allowed_models", "POST", "/users", { name: "Ada", policy: { allowed_models: ["chat*"] } }],
    ["models", "POST", "/keys", { name: "k", models: ["chat*"] }],
    ["models", "POST", "/policy/dry-run", { models: ["chat*"] }],
  ])(
    "with a pattern in %s that only named routes match is rejected with their names, because it would allow nothing",
    async (field, method, path, body) => {
      const key = path === "/policy/dry-run" ? await admin("POST", "/keys", { name: "k" }) : null;
      const sent = key === null ? body : { ...body, key_id: key.data.id };
      expect(readRejection(await admin(method, path, sent))).toEqual([
        400,
        field,
        expect.stringMatching(/allows nothing.*"chat", "chat-large"/),
      ]);
    },
  );

  test("with a pattern that denies named routes is valid, because patterns of denied models match their names", async () => {
    const user = await admin("POST", "/users", { name: "Ada", policy: { denied_models: ["chat*"] } });
    expect(user.status).toBe(201);
  });

  test("that is stored stays valid if the catalog loses a name", async () => {
    const { deniedModels, allowedProviders } = WITHDRAWN.policy;
    const more = { denied_models: [...deniedModels, "acme/embed"], allowed_providers: allowedProviders };
    const changed = await admin("PATCH", "/users/user_1", { policy: more });
    expect([changed.status, changed.data?.["policy"]]).toEqual([200, expect.objectContaining(more)]);
    const worse = { denied_models: [...deniedModels, "gone/other"] };
    expect(readRejection(await admin("PATCH", "/users/user_1", { policy: worse }))).toEqual([
      400,
      "policy.denied_models",
      expect.stringContaining('[2] names no model that this gateway knows: "gone/other"'),
    ]);
  });
});

test.each([["chat"], ["gateway-auto/frontier"]])(
  "the models of a BYOK key cannot be a named route or tier, because the key is used for the model that answers: %s",
  async (model) => {
    const { id } = (await admin("POST", "/users", { name: "Ada" })).data;
    const body = { provider: "openai", key: "sk-0123456789abcdef", models: [model] };
    expect(readRejection(await admin("POST", `/accounts/${id}/provider-keys`, body))).toEqual([
      400,
      "models",
      expect.stringContaining("only the model that answers counts here"),
    ]);
  },
);

describe("the models of a key", () => {
  test("must be known when the key is created or changed, unless they are stored already", async () => {
    const wrong = { models: ["acme/*", "acme/modle"] };
    const refused = [400, "models", expect.stringMatching(/models\[1\].*Did you mean "acme\/model"/)];
    expect(readRejection(await admin("POST", "/keys", { name: "k", ...wrong }))).toEqual(refused as never);
    const [own] = (await admin("GET", "/keys?account_id=user_1")).rows;
    expect(readRejection(await admin("PATCH", `/keys/${own?.id}`, wrong))).toEqual(refused as never);
    const kept = { models: [...WITHDRAWN.keyModels, "acme/embed"] };
    expect((await admin("PATCH", `/keys/${own?.id}`, kept)).data["models"]).toEqual(kept.models);
  });

  test("must be known for a BYOK key too", async () => {
    const path = "/accounts/user_0/provider-keys";
    const own = { provider: "openai", key: "own-openai-0123456789" };
    expect(readRejection(await admin("POST", path, { ...own, models: ["openai/gpt-5.1-codx"] }))).toEqual([
      400,
      "models",
      expect.stringContaining('"openai/gpt-5.1-codex"'),
    ]);
    const made = await admin("POST", path, { ...own, models: ["openai/gpt-5*"] });
    expect(made.status).toBe(201);
    const changed = await admin("PATCH", `${path}/${made.data.id}`, { models: ["opnai/*"] });
    expect(readRejection(changed).slice(0, 2)).toEqual([400, "models"]);
  });
});

describe("gateway.yaml", () => {
  const workspace = createWorkspace();
  afterAll(() => workspace.clear());

  const YAML = `
policy:
  allowed_models:
    - "*"
    - openai/gpt-5.1-codx
  denied_providers: [antropic]
limits:
  models:
    "opnai/*": {requests_per_minute: 5}
`;

  test("with unknown names stops the start with their lines and suggestions", async () => {
    const folder = join(workspace.folder, "wrong");
    mkdirSync(folder);
    writeFileSync(join(folder, "gateway.yaml"), YAML);
    const environment = {
      GATEWAY_CONFIG: join(folder, "gateway.yaml"),
      GATEWAY_DATA_DIR: join(folder, "data"),
    };
    const { exitCode, stderr } = await workspace.runInOwnProcess(["start"], { environment });
    expect(exitCode).toBe(1);
    const lines = stderr.trim().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(
      /gateway\.yaml:5:\d+: policy\.allowed_models\.1 names no model that this gateway knows: "openai\/gpt-5\.1-codx"\. Did you mean "openai\/gpt-5\.1-codex"/,
    );
    expect(lines[2]).toMatch(
      /gateway\.yaml:6:\d+: policy\.denied_providers\.0 names no provider.*"anthropic"/,
    );
    expect(lines[3]).toMatch(/gateway\.yaml:9:\d+: limits\.models\.opnai\/\* names no model.*"openai\/\*"/);
  });

  test("is used by the command to validate the names of a policy like the management API", async () => {
    const create = (models: string) => workspace.run(["users", "create", "Ada", "--denied-models", models]);
    await workspace.run(["migrate"]);
    const wrong = await create("opnai/*");
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining('Did you mean "openai/*"')]);
    expect((await create("openai/*")).exitCode).toBe(0);
  });
});
