import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type RecordingVendor,
  startRecordingVendor,
  yamlFor,
} from "../../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({ yaml: yamlFor(vendor) });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const USER = { role: "user", content: "x" };
const BASE = { model: "acme/model", messages: [USER] };
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object" } } };
const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const RESULT = { role: "tool", tool_call_id: "call_1", content: "done" };

/** A value with its JSON text, for JSON that `JSON.stringify` cannot produce. */
class Raw {
  constructor(readonly json: string) {}
}

function write(value: unknown): string {
  if (value instanceof Raw) return value.json;
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`).join(",")}}`;
}

interface Field {
  /** The name in the error message. */
  readonly field: string;
  /** Makes a request whose field has a value. */
  readonly put: (value: unknown) => Record<string, unknown>;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
  /** Whether null counts as absent; otherwise it is rejected. */
  readonly nullIsAbsent: boolean;
}

/** A top-level field. Optional by default. */
function top(
  field: string,
  good: readonly unknown[],
  bad: readonly unknown[],
  nullIsAbsent = true,
  base: object = BASE,
): Field {
  return { field, put: (value) => ({ ...base, [field]: value }), good, bad, nullIsAbsent };
}

/** A field of the only message. */
function inMessage(
  field: string,
  message: Record<string, unknown>,
  good: readonly unknown[],
  bad: readonly unknown[],
  nullIsAbsent: boolean,
): Field {
  const put = (value: unknown) => ({ ...BASE, messages: [{ ...message, [field]: value }] });
  return { field: `messages[0].${field}`, put, good, bad, nullIsAbsent };
}

function inPart(field: string, part: (value: unknown) => unknown, good: unknown[], bad: unknown[]): Field {
  const put = (value: unknown) => ({ ...BASE, messages: [{ role: "user", content: [part(value)] }] });
  return { field: `messages[0].content[0]${field}`, put, good, bad, nullIsAbsent: false };
}

function inTool(
  field: string,
  tool: (value: unknown) => unknown,
  good: unknown[],
  bad: unknown[],
  nullIsAbsent: boolean,
): Field {
  return {
    field: `tools[0]${field}`,
    put: (value) => ({ ...BASE, tools: [tool(value)] }),
    good,
    bad,
    nullIsAbsent,
  };
}

function inCall(
  field: string,
  call: (value: unknown) => unknown,
  good: unknown[],
  bad: unknown[],
  isNull = true,
): Field {
  const put = (value: unknown) => ({
    ...BASE,
    messages: [{ role: "assistant", content: null, tool_calls: [call(value)] }, RESULT],
  });
  return { field: `messages[0].tool_calls[0]${field}`, put, good, bad, nullIsAbsent: isNull };
}

const NO_NUMBERS = ["1", true, [], {}, "", new Raw("1e999"), new Raw("-1e999")];
const NO_STRINGS = [1, true, [], {}];
const NO_OBJECTS = [1, true, "x", ["x"]];
const NO_WORDS = [0, 1, "true", "false", [], {}];

function range(field: string, low: number, high: number): Field {
  const good = [low, high, (low + high) / 2, 0, new Raw("-0"), new Raw("1e-7"), new Raw(`${high}.000`)];
  return top(field, good, [low - 0.001, high + 0.001, new Raw(`${high}.1e0`), ...NO_NUMBERS]);
}

const FIELDS: readonly Field[] = [
  top("model", ["acme/model", "ACME/Model"], NO_STRINGS, false),
  top("messages", [[USER], [USER, USER]], [[], {}, "x", 1, true], false),
  top("stream", [true, false], NO_WORDS),
  top("max_tokens", [1, 4096, new Raw("1.0"), new Raw("1e3")], [0, -1, 0.5, ...NO_NUMBERS]),
  top("max_completion_tokens", [1, 4096], [0, -1, 1.5, ...NO_NUMBERS]),
  top("n", [1, 2], [0, -1, 1.5, ...NO_NUMBERS]),
  range("temperature", 0, 2),
  range("top_p", 0, 1),
  range("frequency_penalty", -2, 2),
  range("presence_penalty", -2, 2),
  top("seed", [0, -5, 42, 9_007_199_254_740_991], ["42", true, [], {}]),
  top("stop", ["END", ["a", "b"], [], ""], [1, true, {}, [1], ["a", null], [["a"]]]),
  top("user", ["me", ""], NO_STRINGS),
  top("stream_options", [{}, { include_usage: true }, { include_usage: false }], NO_OBJECTS),
  top("tools", [[TOOL], []], [{}, "x", 1, true, new Raw('"tools"')]),
  top(
    "tool_choice",
    [
      "none",
      "auto",
      "required",
      "any",
      { type: "function", function: { name: "f" } },
      { function: { name: "f" } },
    ],
    [
      "",
      1,
      true,
      [],
      {},
      { type: "function" },
      { type: "function", function: {} },
      { type: "function", function: { name: 1 } },
      { type: 1, function: { name: "f" } },
    ],
    true,
    { ...BASE, tools: [TOOL] },
  ),
  top(
    "response_format",
    [
      { type: "text" },
      { type: "json_object" },
      { type: "json_schema", json_schema: { name: "x", schema: {} } },
    ],
    ["json", 1, true, [], {}, { type: 1 }, { type: null }],
  ),
  top(
    "models",
    [["acme/model:free"], []],
    ["acme/model", 1, true, {}, [1], [null], Array(17).fill("acme/model")],
  ),
  top("provider", [{}, { order: ["vendor"], only: ["VENDOR"] }, { ignore: [] }], NO_OBJECTS),

  inMessage("role", USER, ["system", "developer", "user"], ["root", "", "System", ...NO_STRINGS], false),
  inMessage("content", USER, ["", "x", [], [{ type: "text", text: "x" }]], [1, true, {}], false),
  inMessage("content", { role: "system" }, ["x", [{ type: "text", text: "x" }]], [1, true, {}], false),
  inMessage("content", { role: "assistant" }, ["", "x", [{ type: "text", text: "x" }]], [1, true, {}], true),
  inMessage("tool_calls", { role: "assistant", content: "x" }, [[CALL], []], [{}, "x", 1, true], true),

  inPart(
    "",
    (value) => value,
    [{ type: "text", text: "x" }],
    ["x", 1, true, [], {}, { type: 1 }, { text: "x" }],
  ),
  inPart(".text", (text) => ({ type: "text", text }), ["x", ""], NO_STRINGS),
  inPart(
    ".image_url.url",
    (url) => ({ type: "image_url", image_url: { url } }),
    ["https://example.com/a.png", "data:image/png;base64,AA=="],
    NO_STRINGS,
  ),

  inTool("", (value) => value, [TOOL], [{}, [], "x", 1, true], false),
  inTool(".type", (type) => ({ ...TOOL, type }), ["function"], NO_STRINGS, true),
  inTool(
    ".function.name",
    (name) => ({ ...TOOL, function: { name } }),
    ["f", "a-b_c"],
    [...NO_STRINGS, ""],
    false,
  ),
  inTool(
    ".function.description",
    (description) => ({ ...TOOL, function: { name: "f", description, parameters: {} } }),
    ["x", ""],
    NO_STRINGS,
    true,
  ),
  inTool(
    ".function.parameters",
    (parameters) => ({ ...TOOL, function: { name: "f", parameters } }),
    [{}, { type: "object", $schema: "x", oneOf: [], propertyNames: { pattern: "^a" } }],
    NO_OBJECTS,
    true,
  ),

  inCall("", (value) => value, [CALL], ["x", 1, true, []], false),
  inCall(".id", (id) => ({ ...CALL, id }), ["call_1"], NO_STRINGS),
  inCall(".type", (type) => ({ ...CALL, type }), ["function"], NO_STRINGS),
  inCall(
    ".function.name",
    (name) => ({ ...CALL, function: { name, arguments: "{}" } }),
    ["f"],
    NO_STRINGS,
    false,
  ),
  inCall(
    ".function.arguments",
    (args) => ({ ...CALL, function: { name: "f", arguments: args } }),
    ["{}", "", "{"],
    NO_STRINGS,
  ),
];

async function readRejection(body: string): Promise<{ status: number; type: string; message: string }> {
  const response = await postChat(gateway, body);
  const { error } = (await response.json()) as { error?: { type: string; message: string } };
  return { status: response.status, type: error?.type ?? "none", message: error?.message ?? "" };
}

/** Returns a pattern for the field's name, or that of one of its members, right after the value. */
function namedIn(name: string): RegExp {
  return new RegExp(`: ${name.replace(/[[\].]/g, "\\$&")}[ .[]`);
}

describe.each(FIELDS.map((field) => [field.field, field] as const))("%s", (name, field) => {
  test.each(field.good.map((value) => [write(value), value] as const))("accepts %s", async (_json, value) => {
    const response = await postChat(gateway, write(field.put(value)));
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  });

  test("is rejected with any other value by an error that names it, before the vendor is called", async () => {
    vendor.reset();
    const bad = field.nullIsAbsent ? field.bad : [...field.bad, null];
    for (const value of bad) {
      const refused = await readRejection(write(field.put(value)));
      expect([write(value), refused.status, refused.type]).toEqual([write(value), 400, "invalid_request"]);
      expect(`${write(value)}: ${refused.message}`).toMatch(namedIn(name));
    }
    expect(vendor.requests).toEqual([]);
  });

  test(field.nullIsAbsent ? "may be null or absent" : "may be neither null nor absent", async () => {
    const isMember = !name.endsWith("]");
    const without = isMember ? [(await postChat(gateway, write(field.put(undefined)))).status] : [];
    for (const status of without) expect(status).toBe(field.nullIsAbsent ? 200 : 400);
    const asNull = await postChat(gateway, write(field.put(null)));
    expect(asNull.status).toBe(field.nullIsAbsent ? 200 : 400);
  });
});

describe("an invalid JSON number", () => {
  test.each([
    "NaN",
    "Infinity",
    "-Infinity",
    "+1",
    "01",
    ".5",
    "5.",
    "0x1",
    "1_000",
    "1e",
    "--1",
    "undefined",
  ])("%s is rejected", async (json) => {
    const refused = await readRejection(write({ ...BASE, temperature: new Raw(json) }));
    expect([refused.status, refused.type]).toEqual([400, "invalid_request"]);
    expect(refused.message).toContain("not valid JSON");
  });
});

describe("model ids", () => {
  test.each([
    "",
    "model",
    "acme",
    "acme/",
    "/model",
    "acme/none",
    "openai/gpt-4o",
    "acme/model:paid",
    "🦉",
    "a".repeat(300),
  ])("the unknown model %p is rejected with 400 invalid_model", async (model) => {
    const refused = await readRejection(write({ ...BASE, model }));
    expect([refused.status, refused.type]).toEqual([400, "invalid_model"]);
    expect(refused.message).toContain("models");
    expect(refused.message.length).toBeLessThan(400);
  });

  test("a misspelt model is rejected with a suggestion", async () => {
    expect((await readRejection(write({ ...BASE, model: "acme/modell" }))).message).toContain('"acme/model"');
  });

  test("an unknown fallback model is rejected like an unknown model", async () => {
    const refused = await readRejection(write({ ...BASE, models: ["acme/none"] }));
    expect([refused.status, refused.type]).toEqual([400, "invalid_model"]);
  });
});

describe("maximum sizes", () => {
  test.each([
    ["messages", "20001 messages; at most 20000", { ...BASE, messages: Array(20_001).fill(USER) }],
    ["tools", "2001 tools; at most 2000", { ...BASE, tools: Array(2_001).fill(TOOL) }],
  ])(
    "a request with too many %s is rejected with their number and the maximum",
    async (field, found, body) => {
      const refused = await readRejection(write(body));
      expect([refused.status, refused.type]).toEqual([400, "invalid_request"]);
      expect(refused.message).toStartWith(`${field} has ${found} are accepted. Send fewer`);
    },
  );

  test("a prompt that exceeds the context window is rejected with the window and a lower bound of its tokens", async () => {
    const words = 60_000;
    const own = write({ ...BASE, messages: [{ role: "user", content: "word ".repeat(words) }] });
    const refused = await readRejection(own);
    expect([refused.status, refused.type]).toEqual([400, "context_length_exceeded"]);
    // The tokenizer of this model is unknown, so the message states a lower bound.
    const [, atLeast] =
      /maximum context length is 32768 tokens.* at least (\d+) tokens/.exec(refused.message) ?? [];
    expect(Number(atLeast)).toBeWithin(32_769, words + 1);
  });
});

describe("a body that is not a valid request", () => {
  test.each([
    "",
    " ",
    "null",
    "[]",
    "5",
    '"x"',
    "{",
    "{}}",
    "{} {}",
    "{'model': 'x'}",
    '{"model": "acme/model",}',
    '{"model": "acme/model" "messages": []}',
    '{"model": "acme/model", "messages": [{"role": "user", "content": "x"}}',
    '{model: "acme/model"}',
    '{"model": "acme/model", "messages": [{"role": "user", "content": "a\nb"}]}',
    "\u0000",
    "not json",
  ])("%p is rejected with 400", async (body) => {
    const refused = await readRejection(body);
    expect([refused.status, refused.type]).toEqual([400, "invalid_request"]);
  });

  test("a body that is not UTF-8 is rejected", async () => {
    const body = Buffer.concat([
      Buffer.from('{"model":"acme/model","messages":[{"role":"user","content":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}]}'),
    ]);
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("UTF-8");
  });

  test.each([
    ['{"model":"acme/model","model":"acme/model","messages":[{"role":"user","content":"x"}]}', "model"],
    [
      '{"model":"acme/model","mod\\u0065l":"acme/model:free","messages":[{"role":"user","content":"x"}]}',
      "model",
    ],
    ['{"model":"acme/model","messages":[],"messages":[{"role":"user","content":"x"}]}', "messages"],
    ['{"model":"acme/model","messages":[{"role":"user","role":"system","content":"x"}]}', "role"],
    [
      '{"model":"acme/model","max_tokens":1,"max_tokens":100000,"messages":[{"role":"user","content":"x"}]}',
      "max_tokens",
    ],
  ])("a body with a duplicate member is rejected: %s", async (body, name) => {
    const refused = await readRejection(body);
    expect([refused.status, refused.type]).toEqual([400, "invalid_request"]);
    expect(refused.message).toContain(`"${name}" stands twice`);
  });
});

describe("provider rules that are invalid or cannot be met", () => {
  test.each([
    [{ zdr: true }, "provider.zdr"],
    [{ zdr: "true" }, "provider.zdr"],
    [{ data_collection: "denied" }, "provider.data_collection"],
    [{ require_parameters: 1 }, "provider.require_parameters"],
    [{ max_price: 1 }, "provider.max_price"],
    [{ max_price: { prompt: -1 } }, "provider.max_price.prompt"],
    [{ max_price: { completion: "1e3" } }, "provider.max_price.completion"],
    [{ max_price: { audio: 1 } }, "provider.max_price.audio"],
    [{ sort: "fastest" }, "provider.sort"],
    [{ data_collection: "deny" }, "provider.data_collection"],
    [{ order: "vendor" }, "provider.order"],
    [{ only: [1] }, "provider.only"],
    [{ ignore: {} }, "provider.ignore"],
  ])("%j is rejected with an error that names the field", async (provider, name) => {
    const refused = await readRejection(write({ ...BASE, provider }));
    expect([refused.status, refused.type]).toEqual([400, "invalid_request"]);
    expect(refused.message).toStartWith(name);
  });

  test("rules that no provider meets are rejected", async () => {
    const refused = await readRejection(write({ ...BASE, provider: { only: ["no-such-provider"] } }));
    expect([refused.status, refused.type]).toEqual([400, "invalid_request"]);
    expect(refused.message).toContain("provider");
  });
});
