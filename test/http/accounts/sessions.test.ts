import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT_APIS, yamlForAllApis } from "../../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey } from "../../support/money.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

/** Values that occur nowhere else, so that they can be searched for everywhere. */
const USER = "ada.lovelace@example.test";
const SESSION = "conversation-of-ada-7f3c";

let vendor: RecordingVendor;
let gateway: TestGateway;

const yaml = () => `${yamlForAllApis(vendor.baseUrl)}
  xai: {base_url: ${vendor.baseUrl}, api_keys: [sk-xai-0123456789], models: [{id: xai/model, name: up}]}
  anthropic: {base_url: ${vendor.baseUrl}, api_keys: [sk-ant-0123456789], models: [{id: anthropic/model, name: up}]}
  openai: {base_url: ${vendor.baseUrl}, api_keys: [sk-oai-0123456789], models: [{id: openai/model, name: up}]}
`;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({ yaml: yaml() });
});

afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

async function ask(
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

function chat(model: string, more: object): object {
  return { model, messages: [{ role: "user", content: "Hi" }], ...more };
}

/** Returns the user that the vendor received. */
function readSentUser(): unknown {
  const body = JSON.parse(vendor.last().text);
  return body.user ?? body.safety_identifier ?? body.metadata?.user_id;
}

async function hashOf(user: string): Promise<string> {
  await ask("/chat/completions", chat("acme/model", { user }));
  return String(readSentUser());
}

describe("the user of a client's request", () => {
  test("is sent to the vendor as a hash that is the same for the same user and different for others", async () => {
    const hash = await hashOf(USER);
    expect(hash).toMatch(/^u_[\w-]{32}$/);
    expect(await hashOf(USER)).toBe(hash);
    expect(await hashOf("bob")).not.toBe(hash);
  });

  // Hosts that fill in the middle know no user, and get none.
  const apis = CLIENT_APIS.filter(({ name }) => name !== "fill in the middle");
  test.each(apis.map((api) => [api.name, api] as const))(
    "has the same hash in %s",
    async (name, { path, model, body }) => {
      const hash = await hashOf(USER);
      const said = name === "messages" ? { metadata: { user_id: USER } } : { user: USER };
      vendor.reset();
      await ask(path, body(model, said));
      expect(readSentUser()).toBe(hash);
    },
  );

  test.each([
    ["chat passed through", "/chat/completions", chat("acme/model", { safety_identifier: USER })],
    ["chat translated to Messages", "/chat/completions", chat("anthropic/model", { user: USER })],
    ["Messages passed through", "/messages", chat("anthropic/model", messagesOf({ user_id: USER }))],
    [
      "Claude Code",
      "/messages",
      chat("anthropic/model", messagesOf({ user_id: `{"device_id":"${USER}","session_id":"1"}` })),
    ],
  ])("has the same hash in requests of %s", async (_name, path, body) => {
    const hash = await hashOf(USER);
    vendor.reset();
    await ask(path, body);
    expect(readSentUser()).toBe(hash);
  });

  test("has a different hash in another account", async () => {
    const hash = await hashOf(USER);
    const key = await addAccountWithKey(gateway, { id: "user_ada", overdraft: null });
    vendor.reset();
    const { status } = await ask("/chat/completions", chat("acme/model", { user: USER }), {
      authorization: `Bearer ${key}`,
    });
    expect(status).toBe(200);
    expect(readSentUser()).toMatch(/^u_/);
    expect(readSentUser()).not.toBe(hash);
  });
});

function messagesOf(metadata: object): object {
  return { max_tokens: 9, metadata };
}

describe("the session of a request", () => {
  test("is sent as a hash in a header to a vendor that has a header for sessions", async () => {
    const told = async (more: object, headers: Record<string, string> = {}) => {
      await ask("/chat/completions", chat("xai/model", more), headers);
      return vendor.last().headers.get("x-grok-conv-id");
    };
    const hash = await told({ session_id: SESSION });
    expect(hash).toMatch(/^s_[\w-]{32}$/);
    expect(await told({}, { "x-session-id": SESSION })).toBe(hash);
    expect(await told({ session_id: "another" })).not.toBe(hash);
    expect(await told({})).toBeNull();
  });

  test("is not sent in a header to other vendors", async () => {
    await ask("/chat/completions", chat("acme/model", { session_id: SESSION }));
    expect(vendor.last().text).not.toContain("session_id");
    expect([...vendor.last().headers.values()].join()).not.toContain("s_");
  });

  test("is sent unchanged to OpenAI if it is a prompt cache key, also in translated requests", async () => {
    await ask("/chat/completions", chat("openai/model", { prompt_cache_key: "k1" }));
    expect(JSON.parse(vendor.last().text).prompt_cache_key).toBe("k1");
    await ask("/responses", { model: "openai/model", input: "Hi", prompt_cache_key: "k2" });
    expect(JSON.parse(vendor.last().text).prompt_cache_key).toBe("k2");
  });
});

describe("user and session ids", () => {
  test("never occur in plain text in upstream requests, responses, errors, logs or stored data", async () => {
    vendor.reset();
    const headers = { "x-session-affinity": SESSION, "x-session-id": SESSION };
    const told = { user: USER, safety_identifier: USER, session_id: SESSION };
    const answers: string[] = [];
    for (const { path, model, body } of CLIENT_APIS) {
      const said = path === "/messages" ? { metadata: { user_id: USER }, session_id: SESSION } : told;
      answers.push((await ask(path, body(model, said), headers)).text);
      answers.push((await ask(path, body("no/model", said), headers)).text);
      vendor.reset(() => Response.json({ error: { message: "no" } }, { status: 400 }));
      answers.push((await ask(path, body(model, said), headers)).text);
    }
    const upstream = vendor.requests.map(({ text, headers }) => `${text}${JSON.stringify([...headers])}`);
    expect(upstream.length).toBeGreaterThan(0);
    await gateway.stop({ keepData: true });
    const kept = readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
    expect(kept.length).toBeGreaterThan(0);
    const places = { upstream, answers, log: gateway.log.map((line) => JSON.stringify(line)), kept };
    for (const [place, texts] of Object.entries(places)) {
      const found = texts.filter((text) => text.includes(USER) || text.includes(SESSION));
      expect([place, found.map((text) => text.slice(0, 200))]).toEqual([place, []]);
    }
  });

  test("have the same hash after a restart", async () => {
    vendor.reset();
    const { dataDir, key } = gateway;
    gateway = await startTestGateway({ yaml: yaml(), dataDir, key });
    const hash = await hashOf(USER);
    await gateway.stop({ keepData: true });
    gateway = await startTestGateway({ yaml: yaml(), dataDir, key });
    expect(await hashOf(USER)).toBe(hash);
    expect(hash).toMatch(/^u_/);
  });
});
