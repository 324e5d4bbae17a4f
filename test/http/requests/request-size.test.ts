import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  answerHello,
  type RecordingVendor,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  mine: {base_url: "${vendor.baseUrl}", models: [{id: "acme/model:free", context_length: 100000000}]}
`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

type Body = Readonly<Record<string, unknown>>;

const MODEL = "acme/model:free";
const USER = { role: "user", content: "x" };
/** The smallest request of each client API. */
const PLAIN: Readonly<Record<string, Body>> = {
  "/chat/completions": { model: MODEL, messages: [USER] },
  "/responses": { model: MODEL, input: [USER] },
  "/messages": { model: MODEL, max_tokens: 10, messages: [USER] },
};

const many = (count: number, make: (at: number) => unknown) =>
  Array.from({ length: count }, (_, at) => make(at));
const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

/** What docs/api/limits.md bounds: a request with `count` of it, and the field that the error names. */
const SIZES: readonly (readonly [
  what: string,
  bound: number,
  path: string,
  field: string,
  make: (count: number) => Body,
])[] = [
  ["messages", 20_000, "/chat/completions", "messages", (n) => ({ messages: many(n, () => USER) })],
  ["messages", 20_000, "/messages", "messages", (n) => ({ messages: many(n, () => USER) })],
  ["items", 20_000, "/responses", "input", (n) => ({ input: many(n, () => USER) })],
  [
    "content parts",
    50_000,
    "/chat/completions",
    "messages",
    (n) => ({ messages: [{ role: "user", content: many(n, () => ({ type: "text", text: "x" })) }] }),
  ],
  [
    "content parts",
    50_000,
    "/messages",
    "messages",
    (n) => ({ messages: [{ role: "user", content: many(n, () => ({ type: "text", text: "x" })) }] }),
  ],
  [
    "content parts",
    50_000,
    "/responses",
    "input",
    (n) => ({ input: [{ role: "user", content: many(n, () => ({ type: "input_text", text: "x" })) }] }),
  ],
  [
    "tool calls",
    20_000,
    "/chat/completions",
    "messages",
    (n) => ({
      messages: [
        {
          role: "assistant",
          tool_calls: many(n, (at) => ({
            id: `c${at}`,
            type: "function",
            function: { name: "f", arguments: "{}" },
          })),
        },
        USER,
      ],
    }),
  ],
  [
    "reasoning details",
    100_000,
    "/chat/completions",
    "messages",
    (n) => ({
      messages: [
        {
          role: "assistant",
          content: "x",
          reasoning_details: many(n, () => ({ type: "reasoning.text", text: "x" })),
        },
        USER,
      ],
    }),
  ],
  [
    "tools",
    2_000,
    "/chat/completions",
    "tools",
    (n) => ({ tools: many(n, (at) => ({ type: "function", function: { name: `f${at}` } })) }),
  ],
  [
    "tools",
    2_000,
    "/messages",
    "tools",
    (n) => ({ tools: many(n, (at) => ({ name: `f${at}`, input_schema: { type: "object" } })) }),
  ],
  [
    "tools",
    2_000,
    "/responses",
    "tools",
    (n) => ({
      tools: many(n, (at) => ({ type: "function", name: `f${at}`, parameters: { type: "object" } })),
    }),
  ],
];

async function send(path: string, more: Body): Promise<readonly [status: number, message: string]> {
  vendor.reset(answerHello);
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...PLAIN[path], ...more }),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  return [response.status, error?.message ?? ""];
}

describe("a request at a bound of the manual is accepted, and one beyond it rejected with the count:", () => {
  test.each(SIZES)("%s, %d, at %s", async (_what, bound, path, field, make) => {
    expect(await send(path, make(bound))).toEqual([200, ""]);
    const [status, message] = await send(path, make(bound + 1));
    expect(status).toBe(400);
    expect(message).toMatch(new RegExp(`^${field} has (more than ${bound}|${bound + 1}) `));
    expect(message).toContain(`; at most ${bound} are accepted.`);
    expect(vendor.requests).toHaveLength(0);
  });

  test.each(Object.keys(PLAIN))("256 levels of nesting at %s", async (path) => {
    // The body is the first level.
    expect((await send(path, { metadata_of_mine: nested(255) }))[0]).toBe(200);
    const [status, message] = await send(path, { metadata_of_mine: nested(256) });
    expect([status, message]).toEqual([400, expect.stringContaining("256")]);
  });

  test.each(Object.keys(PLAIN))("500,000 values at %s", async (path) => {
    const others = countValues({ ...PLAIN[path], values_of_mine: [] });
    expect((await send(path, { values_of_mine: many(500_000 - others, () => 0) }))[0]).toBe(200);
    const [status, message] = await send(path, { values_of_mine: many(500_001 - others, () => 0) });
    expect([status, message]).toEqual([400, expect.stringContaining("500000")]);
  });

  test.each<[string, (schema: unknown) => Body]>([
    ["/chat/completions", (parameters) => ({ type: "function", function: { name: "f", parameters } })],
    ["/responses", (parameters) => ({ type: "function", name: "f", parameters })],
    ["/messages", (input_schema) => ({ name: "f", input_schema })],
  ])("200,000 values in the schemas of tools at %s", async (path, makeTool) => {
    const withSchema = (count: number) => {
      const schemaOf = (values: number) => ({ type: "object", enum: many(values, () => "abcdefgh") });
      const others = countValues([makeTool(schemaOf(0))]);
      return { tools: [makeTool(schemaOf(count - others))] };
    };
    expect((await send(path, withSchema(200_000)))[0]).toBe(200);
    const [status, message] = await send(path, withSchema(200_001));
    expect([status, message]).toEqual([400, expect.stringContaining("tools has 200001 values")]);
  });
});

/** Returns the number of values in a value, with itself. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + countValues(member), 1);
}
