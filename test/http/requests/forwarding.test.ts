import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type RecordingVendor,
  startRecordingVendor,
  VENDOR_KEY,
  yamlFor,
} from "../../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: yamlFor(vendor, "    headers: { X-Operator: operator-value }\n"),
  });
});
beforeEach(() => vendor.reset());
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

async function send(body: string, headers: Record<string, string> = {}, to = gateway): Promise<Response> {
  const response = await fetch(`${to.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${to.key}`, "content-type": "application/json", ...headers },
    body,
  });
  expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)]);
  return response;
}

/** Returns the exact body that the vendor receives for the client's body. */
async function forwarded(body: string): Promise<string> {
  await send(body);
  return vendor.last().text;
}

const USER = '{"role":"user","content":"x"}';

describe("the request body that the vendor receives", () => {
  test.each([
    ["in one line", `{"model":"acme/model","messages":[${USER}]}`],
    ["with spaces everywhere", ` { "model" : "acme/model" ,\n\t"messages" : [ ${USER} ] }\r\n`],
    ["with the model last", `{"messages":[${USER}],"model":"acme/model"}`],
    [
      "with unknown fields of any kind",
      `{"a":null,"model":"acme/model","b":{"c":[1,{"d":"e"}]},"messages":[{"role":"user","x":true,"content":[{"type":"hologram","data":{"z":[]}}]}],"f":1.50e+10,"g":12345678901234567890}`,
    ],
    [
      "with every field of the specification",
      `{"model":"acme/model","messages":[${USER}],"stream":false,"max_tokens":5,"temperature":0.10,"top_p":1.0,"stop":["a"],"frequency_penalty":-2,"presence_penalty":2,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],"tool_choice":"auto","response_format":{"type":"text"},"user":"u","seed":7}`,
    ],
    [
      "with other common fields",
      `{"model":"acme/model","messages":[${USER}],"max_completion_tokens":5,"reasoning":{"effort":"low"},"reasoning_effort":"low","verbosity":"low","prompt_cache_key":"k","logprobs":true,"n":1,"logit_bias":{"5":1},"metadata":{"a":"b"}}`,
    ],
    [
      "in other scripts",
      `{"model":"acme/model","messages":[{"role":"user","content":"Grüße, 世界 🦉 \\u00e9 \\ud83e\\udd89 é"}],"é":"ü"}`,
    ],
    ["with half a surrogate", `{"model":"acme/model","messages":[{"role":"user","content":"\\ud83e"}]}`],
    ["with nulls", `{"model":"acme/model","messages":[${USER}],"temperature":null,"tools":null,"stop":null}`],
    [
      "with names that are special in JavaScript",
      `{"model":"acme/model","__proto__":{"x":1},"constructor":5,"messages":[${USER}]}`,
    ],
    ["with an escaped name", `{"m\\u006fdel":"acme/model","messages":[${USER}]}`],
    ["with an escaped model", `{"model":"acme\\/m\\u006fdel","messages":[${USER}]}`],
  ])("differs from the client's only in the model's and the user's name: %s", async (_name, body) => {
    const renamed = body.replace(/"acme(\/|\\\/)m(o|\\u006f)del"/, '"upstream-model"');
    expect(renamed).not.toBe(body);
    expect((await forwarded(body)).replace(/"u_[\w-]{32}"/, '"u"')).toBe(renamed);
  });

  test.each([
    ['"models":["acme/model:free"]'],
    ['"provider":{"order":["vendor"]}'],
    ['"session_id":"s"'],
    ['"usage":{"include":true}'],
    ['"models":[],"provider":null,"session_id":null,"usage":null'],
  ])("has none of the gateway's own fields: %s", async (fields) => {
    const plain = `{"model":"upstream-model","messages":[${USER}]}`;
    expect(await forwarded(`{"model":"acme/model","messages":[${USER}],${fields}}`)).toBe(plain);
    expect(await forwarded(`{${fields},"model":"acme/model","messages":[${USER}]}`)).toBe(plain);
    expect(await forwarded(`{"model":"acme/model",${fields},"messages":[${USER}]}`)).toBe(plain);
  });

  test("keeps the fields around the gateway's own fields", async () => {
    const body = `{"a":1, "models":[] , "b":2, "usage":{}, "model":"acme/model","messages":[${USER}], "session_id":"s" }`;
    expect(JSON.parse(await forwarded(body))).toEqual({
      a: 1,
      b: 2,
      model: "upstream-model",
      messages: [{ role: "user", content: "x" }],
    });
  });

  const STREAM = `"model":"acme/model","stream":true,"messages":[${USER}]`;

  test.each([
    ["absent", `{${STREAM}}`, { include_usage: true }],
    ["null", `{${STREAM},"stream_options":null}`, { include_usage: true }],
    ["empty", `{${STREAM},"stream_options":{}}`, { include_usage: true }],
    ["false", `{${STREAM},"stream_options":{"include_usage":false}}`, { include_usage: true }],
    ["not a boolean", `{${STREAM},"stream_options":{"include_usage":"no"}}`, { include_usage: true }],
    ["with another field", `{${STREAM},"stream_options":{"x":[1]}}`, { x: [1], include_usage: true }],
    [
      "with another field and false",
      `{"stream_options":{"x":1,"include_usage":false},${STREAM}}`,
      { x: 1, include_usage: true },
    ],
  ])("requests usage in a stream if the client's stream_options are %s", async (_name, body, options) => {
    const sent = JSON.parse(await forwarded(body)) as Record<string, unknown>;
    expect(sent["stream_options"]).toEqual(options);
    const { stream_options: _, ...others } = sent;
    const { stream_options: __, ...asked } = JSON.parse(body) as Record<string, unknown>;
    expect(others).toEqual({ ...asked, model: "upstream-model" });
  });

  test("equals the client's body except the model if the client requests usage", async () => {
    const body = `{${STREAM},"stream_options" : { "include_usage" : true }}`;
    expect(await forwarded(body)).toBe(body.replace("acme/model", "upstream-model"));
  });

  test("has no stream_options without streaming, because vendors reject them", async () => {
    const body = `{"model":"acme/model","messages":[${USER}],"stream_options":{"include_usage":true}}`;
    expect(JSON.parse(await forwarded(body))).not.toHaveProperty("stream_options");
  });

  test("names the vendor's model for each served model", async () => {
    await send(`{"model":"ACME/Model:FREE","messages":[${USER}]}`);
    expect(JSON.parse(vendor.last().text).model).toBe("upstream-free");
  });

  test("is decompressed if the client sent it compressed", async () => {
    const body = `{"model":"acme/model","messages":[${USER}]}`;
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-encoding": "gzip" },
      body: Bun.gzipSync(body),
    });
    expect(response.status).toBe(200);
    expect(vendor.last().text).toBe(body.replace("acme/model", "upstream-model"));
    expect(vendor.last().headers.get("content-encoding")).toBeNull();
  });
});

describe("a message that real clients send outside of the specification is forwarded unchanged:", () => {
  const CALL = '{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}';
  const RESULT = '{"role":"tool","tool_call_id":"call_1","content":"done"}';
  const ASKED = `{"role":"assistant","content":null,"tool_calls":[${CALL}]}`;

  test.each([
    [
      "system content in parts",
      '{"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]}',
      USER,
    ],
    [
      "tool content in parts",
      USER,
      ASKED,
      '{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"done"}]}',
    ],
    [
      "a name of a tool result",
      USER,
      ASKED,
      '{"role":"tool","tool_call_id":"call_1","name":"f","content":"done"}',
    ],
    [
      "empty content next to tool calls",
      USER,
      `{"role":"assistant","content":"","tool_calls":[${CALL}]}`,
      RESULT,
    ],
    ["no content next to tool calls", USER, `{"role":"assistant","tool_calls":[${CALL}]}`, RESULT],
    [
      "images after a tool result",
      USER,
      ASKED,
      RESULT,
      '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}]}',
    ],
    [
      "reasoning of an earlier turn",
      USER,
      '{"role":"assistant","content":"y","reasoning":"r","reasoning_content":"r","reasoning_details":[{"type":"reasoning.encrypted","data":"AA=="}]}',
      USER,
    ],
    ["an empty content", USER, '{"role":"assistant","content":""}', USER],
    [
      "vendor-specific content parts",
      '{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"","format":"wav"}},{"type":"file","file":{"file_id":"f"}}]}',
    ],
    [
      "an unknown image detail",
      '{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"original"}}]}',
    ],
    ["two calls with the same id in different turns", USER, ASKED, RESULT, ASKED, RESULT, USER],
  ])("%s", async (_name, ...messages) => {
    const body = `{"model":"acme/model","messages":[${messages.join(", ")}]}`;
    expect(await forwarded(body)).toBe(body.replace("acme/model", "upstream-model"));
  });

  test.each([
    ["left out", '"name":"f"'],
    ["null", '"name":"f","parameters":null'],
  ])("tools whose parameters are %s get an empty object schema", async (_name, fn) => {
    const body = `{"model":"acme/model","messages":[${USER}],"tools":[{"type":"function","function":{${fn}}}]}`;
    expect(JSON.parse(await forwarded(body)).tools).toEqual([
      { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } },
    ]);
  });

  test("any JSON Schema and any vendor-specific tool is forwarded unchanged", async () => {
    const schema =
      '{"$schema":"http://json-schema.org/draft-07/schema#","type":["object","null"],"propertyNames":{"pattern":"^a"},"exclusiveMinimum":1,"oneOf":[],"const":null}';
    const body = `{"model":"acme/model","messages":[${USER}],"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":${schema}}},{"type":"web_search","x":1}]}`;
    expect(await forwarded(body)).toBe(body.replace("acme/model", "upstream-model"));
  });

  test("an empty list of tool calls is removed, and nothing else changes", async () => {
    const body = `{"model":"acme/model","messages":[${USER},{"role":"assistant","content":"y","tool_calls":[],"name":"a"},${USER}]}`;
    expect(await forwarded(body)).toBe(
      body.replace("acme/model", "upstream-model").replace('"tool_calls":[],', ""),
    );
  });

  test("a broken tool-call history is repaired, and the response counts the repairs", async () => {
    const orphan = '{"role":"tool","tool_call_id":"call_9","content":"?"}';
    const twice = `{"role":"assistant","content":null,"tool_calls":[${CALL},${CALL}]}`;
    const response = await send(`{"model":"acme/model","messages":[${USER},${twice},${orphan},${USER}]}`);
    expect(await response.json()).toMatchObject({
      gateway_metadata: {
        repairs: {
          duplicate_calls_removed: 1,
          orphan_results_removed: 1,
          placeholders_added: 1,
          ids_mapped: 0,
        },
      },
    });
    expect(JSON.parse(vendor.last().text).messages).toEqual([
      JSON.parse(USER),
      JSON.parse(ASKED),
      { role: "tool", tool_call_id: "call_1", content: expect.stringContaining("interrupted") },
      JSON.parse(USER),
    ]);
  });
});

describe.each(["http1", "fetch"])(
  "the request head that the vendor receives over the transport %s",
  (transport) => {
    let own: TestGateway;

    beforeAll(async () => {
      const yaml = yamlFor(vendor, "    headers: { X-Operator: operator-value }\n");
      own = await startTestGateway({ yaml: `${yaml}upstream: { transport: ${transport} }\n` });
    });
    afterAll(() => own.stop());

    const BODY = `{"model":"acme/model","messages":[${USER}]}`;

    test("has the platform key and the operator's headers, and no header of the client", async () => {
      const secrets: Record<string, string> = {
        "x-api-key": own.key,
        cookie: "session=1",
        "x-forwarded-for": "203.0.113.7",
        "x-forwarded-host": "evil.example",
        "user-agent": "secret-client/1",
        "openai-organization": "org-client",
        "x-stainless-lang": "js",
        "x-title": "app",
        referer: "https://client.example",
        "x-operator": "forged",
        "x-gateway-mode": "plan",
      };
      await send(BODY, secrets, own);
      const { headers, path, method } = vendor.last();
      expect([method, path]).toEqual(["POST", "/v1/chat/completions"]);
      expect(headers.get("authorization")).toBe(`Bearer ${VENDOR_KEY}`);
      expect(headers.get("content-type")).toBe("application/json");
      expect(headers.get("x-operator")).toBe("operator-value");
      expect(headers.get("host")).toBe(new URL(vendor.baseUrl).host);
      for (const [name, value] of Object.entries(secrets)) {
        expect([name, headers.get(name)]).not.toEqual([name, value]);
      }
      const whole = JSON.stringify([...headers.entries()]);
      expect(whole).not.toContain(own.key);
      expect(whole).not.toContain("203.0.113.7");
    });

    test("accepts events for a stream, and JSON otherwise", async () => {
      await send(BODY, {}, own);
      expect(vendor.last().headers.get("accept")).toBe("application/json");
      await send(BODY.replace("{", '{"stream":true,'), {}, own);
      expect(vendor.last().headers.get("accept")).toBe("text/event-stream");
    });

    test("has the platform key for a request without an API key", async () => {
      await send(`{"model":"acme/model:free","messages":[${USER}]}`, { authorization: "" }, own);
      expect(vendor.last().headers.get("authorization")).toBe(`Bearer ${VENDOR_KEY}`);
    });

    test("accepts no compression", async () => {
      await send(BODY, { "accept-encoding": "gzip" }, own);
      expect(vendor.last().headers.get("accept-encoding")).toBe("identity");
    });
  },
);
