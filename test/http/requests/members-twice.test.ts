import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  alpha:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-alpha-0123456789]
    models:
      - {id: acme/chat}
      - {id: acme/vectors, output: embedding}
      - {id: acme/guard, output: moderation}
      - {id: acme/rank, output: rerank}
      - {id: acme/image, output: image}
      - {id: acme/voice, output: speech}
      - {id: acme/ear, output: transcription}`,
  });
});
beforeEach(() => vendor.reset(() => Response.json({})));
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const SOME_MESSAGES = '"messages":[{"role":"user","content":"x"}]';

/** Each endpoint: its path under the host, and the members of a valid body without its model. */
const ENDPOINTS = {
  chat: ["/api/v1/chat/completions", "acme/chat", SOME_MESSAGES],
  messages: ["/api/v1/messages", "acme/chat", `"max_tokens":9,${SOME_MESSAGES}`],
  count_tokens: ["/api/v1/messages/count_tokens", "acme/chat", SOME_MESSAGES],
  responses: ["/api/v1/responses", "acme/chat", '"input":"x"'],
  completions: ["/api/v1/completions", "acme/chat", '"prompt":"x"'],
  fim: ["/api/fim/completions", "mistralai/codestral-latest", '"prompt":"x"'],
  embeddings: ["/api/v1/embeddings", "acme/vectors", '"input":"x"'],
  moderations: ["/api/v1/moderations", "acme/guard", '"input":"x"'],
  rerank: ["/api/v1/rerank", "acme/rank", '"query":"x","documents":["y"]'],
  images: ["/api/v1/images/generations", "acme/image", '"prompt":"x"'],
  speech: ["/api/v1/audio/speech", "acme/voice", '"input":"x","voice":"v"'],
} as const;
type Endpoint = keyof typeof ENDPOINTS;

/** What may be added to a body: members that stand twice, and the name that the error has. */
const TWICE = [
  ['"service_tier":"flex","service_tier":"priority"', "service_tier"],
  ['"n":1,"\\u006e":90', "n"],
  ['"max_tokens_":1,"max_tokens\\u005f":2', "max_tokens_"],
  ['"größe":1,"gr\\u00f6\\u00dfe":2', "größe"],
  ['"":1,"":2', ""],
  ['"reasoning_":{"effort":"low","effort":"high"}', "effort"],
  ['"plugins":[{"id":"a"},{"id":"b","id":"web"}]', "id"],
  ['"deep":[[{"a":{"b":[{"c":1,"d":2,"c" : 3}]}}]]', "c"],
  [`"many":{${Array.from({ length: 200 }, (_, at) => `"m${at}":0`).join()},"inner":{"m1":0},"m17":1}`, "m17"],
  [`"large":["${"x".repeat(20_000)}",{"a":1,"\\u0061":1}]`, "a"],
] as const;

function post(path: string, body: string): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${gateway.key}` },
    body,
  });
}

function ask(endpoint: Endpoint, more: string, isFirst = false): Promise<Response> {
  const [path, model, members] = ENDPOINTS[endpoint];
  const rest = `"model":"${model}",${members}`;
  return post(path, isFirst ? `{${more},${rest}}` : `{${rest},${more}}`);
}

async function messageOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { readonly error: { readonly message: string } };
  return error.message;
}

for (const endpoint of Object.keys(ENDPOINTS) as Endpoint[])
  describe(`a request of ${endpoint}`, () => {
    test.each(TWICE)("with members that stand twice is rejected by name: %s", async (more, name) => {
      for (const isFirst of [false, true]) {
        const response = await ask(endpoint, more, isFirst);
        expect(response.status).toBe(400);
        expect(await messageOf(response)).toContain(`${JSON.stringify(name)} stands twice in one object`);
      }
      expect(vendor.requests).toHaveLength(0);
    });

    test("whose objects share names with each other is not rejected for that", async () => {
      const shared = '"x_more":{"a":{"a":[{"a":1},{"a":2,"b":{"a":3}}]},"b":1}';
      const response = await ask(endpoint, shared);
      expect(await response.text()).not.toContain("stands twice");
    });
  });

describe("members of a schema or of a tool's input that stand twice", () => {
  test.each([
    [
      "chat",
      '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","type":"x"}}}]',
      "type",
    ],
    ["chat", '"response_format":{"type":"json_schema","json_schema":{"name":"a","name":"b"}}', "name"],
    ["chat", '"stream_options":{"other":1,"other":2}', "other"],
    ["messages", '"tools":[{"name":"f","input_schema":{"properties":{"p":{},"p":{}}}}]', "p"],
    ["responses", '"tools":[{"type":"web_search","filters":{"a":1,"a":2}}]', "a"],
  ] as const)("reject a request of %s: %s", async (endpoint, more, name) => {
    const response = await ask(endpoint, more);
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toContain(`${JSON.stringify(name)} stands twice in one object`);
    expect(vendor.requests).toHaveLength(0);
  });
});

test("a management request with members that stand twice is rejected, and changes nothing", async () => {
  const response = await fetch(`${gateway.url}/api/admin/keys`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${gateway.adminKey}` },
    body: '{"name":"mine","budget":{},"name":"other"}',
  });
  expect(response.status).toBe(400);
  expect(await messageOf(response)).toContain('"name" stands twice in one object');
});

describe("a form", () => {
  const FILE = ["file", "RIFF", '; filename="a.wav"'] as const;

  function send(
    parts: readonly (readonly [name: string, value: string, more?: string])[],
  ): Promise<Response> {
    const body = parts.map(
      ([name, value, more = ""]) =>
        `--b\r\nContent-Disposition: form-data; name=${name.includes('"') ? name : `"${name}"`}${more}\r\n\r\n${value}\r\n`,
    );
    return fetch(`${gateway.url}/api/v1/audio/transcriptions`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=b", authorization: `Bearer ${gateway.key}` },
      body: `${body.join("")}--b--\r\n`,
    });
  }

  test.each([
    [
      [
        ["model", "acme/ear"],
        ["model", "acme/other"],
      ],
      "model is there twice",
    ],
    [
      [
        ["model", "acme/ear"],
        ['"mod\\el"', "acme/other"],
      ],
      "model is there twice",
    ],
    [
      [
        ["model", "acme/ear"],
        ["temperature", "0"],
        ["temperature", "1"],
      ],
      "temperature is there twice",
    ],
    [
      [
        ["model", "acme/ear"],
        ["x", "1", "; name*=utf-8''model"],
      ],
      "a name in the form name*=",
    ],
    [
      [
        ["model", "acme/ear"],
        ["x", "1", '; name="model"'],
      ],
      "a part has two names",
    ],
    [
      [
        ["model", "acme/ear"],
        ["provider", '{"only":["a"],"only":["b"]}'],
      ],
      '"only" stands twice in one object',
    ],
  ] as const)("with fields that stand twice is rejected: %j", async (parts, message) => {
    const response = await send([FILE, ...parts]);
    expect(response.status).toBe(400);
    expect(await messageOf(response)).toContain(message);
    expect(vendor.requests).toHaveLength(0);
  });

  test("may have a list whose name ends with brackets twice", async () => {
    const response = await send([
      FILE,
      ["model", "acme/ear"],
      ["timestamp_granularities[]", "word"],
      ["timestamp_granularities[]", "segment"],
    ]);
    expect(await response.text()).not.toContain("twice");
    expect(vendor.requests.length).toBeGreaterThan(0);
  });
});
