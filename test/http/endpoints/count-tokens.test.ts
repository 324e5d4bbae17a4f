import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { TokenCounter } from "../../../src/core/generation/memory/token-counter.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;
/** The number that the tokenizer returns for each text; `null` means that it cannot count. */
let tokens: number | null;
const tokenCounter: TokenCounter = {
  count: async (texts) => {
    const each = tokens;
    return each === null ? null : texts.map(() => each);
  },
  close: () => {},
};

beforeAll(async () => {
  vendor = startRecordingVendor();
  const origin = vendor.baseUrl.replace(/\/v1$/, "");
  gateway = await startTestGateway({
    tokenCounter,
    yaml: `sandbox: on
providers:
  anthropic: { base_url: "${origin}", api_keys: [vendor-key] }
  openai: { base_url: "${vendor.baseUrl}", api_keys: [vendor-key] }
`,
  });
});
beforeEach(() => {
  tokens = 10;
  vendor.reset(() => Response.json({ input_tokens: 321 }));
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const messages = [{ role: "user", content: "How many are these?" }];

function count(body: Readonly<Record<string, unknown>>, headers: Record<string, string>): Promise<Response> {
  return fetch(`${gateway.base}/messages/count_tokens`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

const estimateOf = (input_tokens: number) => ({ input_tokens, estimated: true });
const withKey = () => ({ "x-api-key": gateway.key });

describe("counting tokens", () => {
  test("calls the vendor's endpoint with only the fields that affect the count", async () => {
    const asked = {
      model: "anthropic/claude-sonnet-4.5",
      messages,
      system: "Be short.",
      tools: [{ name: "f", input_schema: { type: "object" } }],
      thinking: { type: "enabled", budget_tokens: 2048 },
    };
    const response = await count({ ...asked, max_tokens: 50, stream: true, metadata: {} }, withKey());
    expect([response.status, await response.json()]).toEqual([200, { input_tokens: 321 }]);
    const sent = vendor.last();
    expect(sent.path).toBe("/v1/messages/count_tokens");
    expect(sent.headers.get("x-api-key")).toBe("vendor-key");
    const { model, ...rest } = asked;
    expect(JSON.parse(sent.text)).toEqual({ ...rest, model: expect.stringContaining("claude") });
  });

  test.each([
    ["whose vendor cannot count", "openai/gpt-4o-mini", 10],
    [
      "whose vendor fails, corrected by what the model's tokenizer usually counts",
      "anthropic/claude-sonnet-4.5",
      13,
    ],
  ])("returns an estimate for a model %s", async (_name, model, expected) => {
    for (const status of [500, 404]) {
      tokens = 10;
      vendor.reset(() => new Response("no", { status }));
      const response = await count({ model, messages }, withKey());
      expect([response.status, await response.json()]).toEqual([200, estimateOf(expected)]);
      tokens = null;
      const byBytes = await count({ model, messages }, withKey());
      expect([byBytes.status, await byBytes.json()]).toEqual([200, estimateOf(6)]);
    }
  });

  test("returns an estimate, marked as such, if the vendor has no such endpoint or returns no number", async () => {
    for (const answer of [Response.json({ type: "error" }, { status: 404 }), Response.json({ tokens: 3 })]) {
      vendor.reset(() => answer);
      const response = await count({ model: "anthropic/claude-sonnet-4.5", messages }, withKey());
      expect([response.status, await response.json()]).toEqual([200, estimateOf(13)]);
    }
  });

  test("needs no key for free models and a key for others, with errors in the Messages format", async () => {
    expect((await count({ model: "sandbox/echo:free", messages }, {})).status).toBe(200);
    const refused = await count({ model: "anthropic/claude-sonnet-4.5", messages }, {});
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({
      type: "error",
      error: { type: "authentication_error", code: 401 },
    });
    const bad = await count({ model: "anthropic/claude-sonnet-4.5", messages: [] }, withKey());
    expect([bad.status, ((await bad.json()) as { error: { type: string } }).error.type]).toEqual([
      400,
      "invalid_request_error",
    ]);
  });
});
