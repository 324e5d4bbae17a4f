import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createKey } from "../../src/core/accounts/manage/manage-keys.ts";
import { NO_KEY_DEFAULTS, OPEN_POLICY } from "../../src/core/accounts/records/records.ts";
import { ENDPOINTS } from "../../src/http/routes/endpoints.ts";
import {
  FIXED_ROUTES,
  GATEWAY_ROUTES,
  OPEN_FIXED_ROUTES,
  PREFIXES,
} from "../../src/http/server/route-table.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const messages = [{ role: "user", content: "Hello!" }];
const CHAT_MODEL = "acme/model";
const FIM_MODEL = "mistralai/codestral-latest";
const EMBEDDING_MODEL = "acme/embedding";
const MODERATION_MODEL = "acme/guard";
const RERANK_MODEL = "acme/rank";
const IMAGE_MODEL = "acme/draw";
const SPEECH_MODEL = "acme/speak";
const TRANSCRIPTION_MODEL = "acme/hear";
/** The route whose body is a form. */
const FORM_PATH = "/audio/transcriptions";

type Body = Readonly<Record<string, unknown>>;

/** The 402 body of the APIs without their own error format. */
const PLAIN: Body = {
  error: {
    message: expect.stringContaining("balance"),
    code: 402,
    type: "insufficient_credits",
    metadata: { balance: 0, required: expect.any(Number), limit_source: "account" },
  },
  error_type: "insufficient_credits",
};

/** Every route that spends money, with a request and the error format of its API. */
const SPENDING: Readonly<Record<string, { readonly body: Body; readonly shape: Body }>> = {
  "/chat/completions": {
    body: { model: CHAT_MODEL, messages },
    shape: { error: { type: "insufficient_credits", code: 402 }, error_type: "insufficient_credits" },
  },
  "/responses": {
    body: { model: CHAT_MODEL, input: "Hello!" },
    shape: { error: { message: expect.stringContaining("balance") } },
  },
  "/responses/compact": {
    body: { model: CHAT_MODEL, input: "Hello!" },
    shape: { error: { message: expect.stringContaining("balance") } },
  },
  "/messages": {
    body: { model: CHAT_MODEL, max_tokens: 100, messages },
    shape: {
      type: "error",
      error: { type: expect.any(String), message: expect.stringContaining("balance") },
    },
  },
  "/fim/completions": { body: { model: FIM_MODEL, prompt: "function " }, shape: PLAIN },
  "/api/fim/completions": { body: { model: FIM_MODEL, prompt: "function " }, shape: PLAIN },
  "/completions": { body: { model: CHAT_MODEL, prompt: "Hello!" }, shape: PLAIN },
  "/embeddings": {
    body: { model: EMBEDDING_MODEL, input: "Hello!" },
    shape: PLAIN,
  },
  "/moderations": { body: { model: MODERATION_MODEL, input: "Hello!" }, shape: PLAIN },
  "/images/generations": { body: { model: IMAGE_MODEL, prompt: "A boat." }, shape: PLAIN },
  "/audio/speech": { body: { model: SPEECH_MODEL, input: "Hello!", voice: "alloy" }, shape: PLAIN },
  [FORM_PATH]: { body: { model: TRANSCRIPTION_MODEL }, shape: PLAIN },
  "/rerank": { body: { model: RERANK_MODEL, query: "Hello!", documents: ["Hi"] }, shape: PLAIN },
};

/** Routes that accept a body and cost nothing. */
const FREE: ReadonlySet<string> = new Set(["/messages/count_tokens", "/route/explain"]);
/** Routes of kept responses and conversations, which call no vendor. */
const KEPT: ReadonlySet<string> = new Set([
  "/responses/:id/cancel",
  "/conversations",
  "/conversations/:id",
  "/conversations/:id/items",
]);
/** Routes of the console for identity providers. */
const SIGN_IN: ReadonlySet<string> = new Set(["/api/console/oidc/backchannel-logout"]);
const MANAGEMENT: ReadonlySet<string> = new Set(ENDPOINTS.map(({ path }) => path));

const takesBody = (methods: object): boolean => ["POST", "PUT", "PATCH"].some((method) => method in methods);
const GATEWAY_PATHS = Object.keys(GATEWAY_ROUTES).filter((path) => takesBody(GATEWAY_ROUTES[path] ?? {}));
const ALL_FIXED = { ...FIXED_ROUTES, ...OPEN_FIXED_ROUTES };
const FIXED_PATHS = Object.keys(ALL_FIXED).filter((path) => takesBody(ALL_FIXED[path] ?? {}));

let vendor: Vendor;
let gateway: TestGateway;
let secret: string;

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models:
      - {id: ${CHAT_MODEL}, prices: {prompt: "0.000001", completion: "0.000002"}}
      - {id: ${EMBEDDING_MODEL}, output: embedding, prices: {prompt: "0.000001", completion: "0"}}
      - {id: ${MODERATION_MODEL}, output: moderation, prices: {prompt: "0.000001", completion: "0"}}
      - {id: ${RERANK_MODEL}, output: rerank, prices: {prompt: "0", completion: "0", search: "0.001"}}
      - {id: ${IMAGE_MODEL}, output: image, prices: {prompt: "0", completion: "0", generated_image: "0.04"}}
      - {id: ${SPEECH_MODEL}, output: speech, prices: {prompt: "0", completion: "0", character: "0.000015"}}
      - {id: ${TRANSCRIPTION_MODEL}, output: transcription, prices: {prompt: "0", completion: "0", audio_second: "0.0001"}}
  codestral: {base_url: "${vendor.baseUrl}", api_keys: [key]}
  mistral: {base_url: "${vendor.baseUrl}", api_keys: [key]}
`,
  });
  secret = await makeEmptyAccount(gateway.dataDir);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

/** Creates a prepaid user with a balance of 0, and returns a key. */
async function makeEmptyAccount(dataDir: string): Promise<string> {
  const stores = await openTestStores(dataDir);
  await stores.accounts.insertAccount({
    id: "user_empty",
    kind: "user",
    name: "empty",
    overdraft: 0,
    monthlyLimit: null,
    policy: OPEN_POLICY,
    rateLimit: null,
    plan: null,
    email: null,
    externalId: null,
    createdAt: 1,
    ...NO_KEY_DEFAULTS,
    closedAt: null,
  });
  const owner = { accountId: "user_empty", userId: "user_empty" };
  const made = await createKey(stores, { name: "empty", kind: "inference", expiresAt: null, ...owner });
  await stores.close();
  return made.secret;
}

const post = (path: string, body: unknown): Promise<Response> => send("POST", path, body);

/** Returns a form with these fields and a file. */
function formOf(fields: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  form.append("file", new File(["RIFF"], "speech.wav"));
  return form;
}

function send(method: string, path: string, body: unknown): Promise<Response> {
  if (path.endsWith(FORM_PATH))
    return fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${secret}` },
      body: formOf(body as object),
    });
  return fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

describe("the holds of routes", () => {
  test("every route that accepts a body is listed as spending, free, kept, management or sign-in", () => {
    const unknown = [...GATEWAY_PATHS, ...FIXED_PATHS].filter(
      (path) =>
        !(path in SPENDING) &&
        !FREE.has(path) &&
        !KEPT.has(path) &&
        !MANAGEMENT.has(path) &&
        !SIGN_IN.has(path),
    );
    expect(unknown).toEqual([]);
  });

  test("every listed route exists", () => {
    const there = new Set([...GATEWAY_PATHS, ...FIXED_PATHS]);
    expect([...Object.keys(SPENDING), ...FREE, ...KEPT].filter((path) => !there.has(path))).toEqual([]);
  });

  const addresses = Object.keys(SPENDING).flatMap((path) =>
    FIXED_PATHS.includes(path) ? [[path, path]] : PREFIXES.map((prefix) => [prefix + path, path]),
  );

  test.each(addresses)(
    "%s answers 402 in its API's error format if nothing can be held, streamed or not",
    async (address, path) => {
      const { body, shape } = SPENDING[path as string] as (typeof SPENDING)[string];
      for (const stream of path === "/embeddings" ? [undefined] : [false, true]) {
        const response = await post(address as string, { ...body, stream });
        const answer = await response.json();
        expect({ status: response.status, answer }).toMatchObject({ status: 402, answer: shape });
      }
      expect(vendor.calls).toHaveLength(0);
    },
  );

  test.each([...FREE])("%s costs nothing", async (path) => {
    const response = await post(`/api/gateway${path}`, { model: CHAT_MODEL, messages });
    expect(response.status).toBe(200);
    expect(vendor.calls).toHaveLength(0);
  });

  test.each([...KEPT])("%s calls no vendor", async (path) => {
    await post(`/api/gateway${path.replace(":id", "x")}`, {});
    expect(vendor.calls).toHaveLength(0);
  });

  test.each(
    ENDPOINTS.filter(({ method }) => method !== "GET").map(({ method, path }) => [method, path] as const),
  )("the management endpoint %s %s calls no vendor for an inference key", async (method, path) => {
    const address = path.replace(/:\w+/g, "x");
    await (await send(method, address, { model: CHAT_MODEL, messages })).text();
    expect(vendor.calls).toHaveLength(0);
  });
});
