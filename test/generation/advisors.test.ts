import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

const SONNET = "anthropic/claude-sonnet-4.6";
const OPUS = "anthropic/claude-opus-4.7";
const TOOL = { type: "advisor_20260301", name: "advisor", model: "claude-opus-4-7" };

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  const origin = vendor.baseUrl.replace(/\/v1$/, "");
  gateway = await startTestGateway({
    yaml: `providers: {anthropic: {base_url: "${origin}", api_keys: [k]}}`,
  });
});
beforeEach(() => {
  gateway.log.length = 0;
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  await vendor.stop();
});

const run = (type: string, input_tokens: number, output_tokens: number, model?: string) => ({
  type,
  input_tokens,
  output_tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  ...(model === undefined ? {} : { model }),
});

/** An answer in which the model consulted an advisor twice. */
const ADVISED = {
  input_tokens: 2_000,
  output_tokens: 300,
  iterations: [
    run("message", 900, 40),
    run("advisor_message", 1_100, 500, "claude-opus-4-7"),
    run("message", 1_100, 260),
    run("advisor_message", 1_300, 700, "claude-opus-4-7"),
  ],
};

function answer(usage: object): void {
  const head = { id: "msg_1", type: "message", role: "assistant", model: "up" };
  const content = [{ type: "text", text: "Done." }];
  vendor.reset(({ text }) => {
    if (!text.includes('"stream":true'))
      return Response.json({ ...head, content, stop_reason: "end_turn", stop_sequence: null, usage });
    const start = { ...head, content: [], stop_reason: null, usage: { input_tokens: 900, output_tokens: 1 } };
    const events = [
      { type: "message_start", message: start },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Done." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
}

async function ask(path: string, more: object = {}, key = gateway.key) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const messages = [{ role: "user", content: "Hello!" }];
  const body = JSON.stringify({ model: SONNET, max_tokens: 1_000, messages, ...more });
  const response = await fetch(gateway.base + path, { method: "POST", headers, body });
  const text = await response.text();
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the answer
  const generation = ((await found.json()) as { data: any }).data;
  return { status: response.status, text, generation };
}

/** Returns nanodollars per token, by the catalog. */
async function priceOf(model: string): Promise<{ prompt: number; completion: number }> {
  const found = await fetch(`${gateway.base}/models/${model}`);
  const { pricing } = (await found.json()) as { pricing: { prompt: string; completion: string } };
  return { prompt: Number(pricing.prompt) * 1e9, completion: Number(pricing.completion) * 1e9 };
}

describe("a model that consults an advisor", () => {
  for (const path of ["/messages", "/chat/completions"]) {
    for (const stream of [false, true]) {
      test(`the model and its advisor are each charged at their own prices at ${path}, ${stream ? "streamed" : "whole"}`, async () => {
        answer(ADVISED);
        const { status, text, generation } = await ask(path, { stream });
        expect([status, text]).toEqual([200, expect.stringContaining("Done.")]);
        const [own, other] = [await priceOf(SONNET), await priceOf(OPUS)];
        const cost =
          2_000 * own.prompt + 300 * own.completion + 2_400 * other.prompt + 1_200 * other.completion;
        expect(generation).toMatchObject({
          tokens_prompt: 2_000,
          tokens_completion: 300,
          total_cost_nanodollars: Math.round(cost),
        });
        expect(generation.advisors).toMatchObject([
          { model: OPUS, tokens_prompt: 1_100, tokens_completion: 500 },
          { model: OPUS, tokens_prompt: 1_300, tokens_completion: 700 },
        ]);
        const rows = generation.pricing as { model?: string; tokens: number; cost_nanodollars: string }[];
        expect(rows.map(({ model, tokens }) => [model, tokens])).toEqual([
          [undefined, 2_000],
          [undefined, 300],
          [OPUS, 1_100],
          [OPUS, 500],
          [OPUS, 1_300],
          [OPUS, 700],
        ]);
        expect(rows.reduce((sum, row) => sum + Number(row.cost_nanodollars), 0)).toBe(
          generation.total_cost_nanodollars,
        );
      });
    }
  }

  test("a usage report has the tokens and cost of each model, and counts one request", async () => {
    const key = await addAccountWithKey(gateway, { id: "user_report" });
    await manage(gateway, "/accounts/user_report/credits", { amount: 1 });
    answer(ADVISED);
    const { generation } = await ask("/messages", {}, key);
    await balanceOf(gateway, "user_report");
    const report = await manage(gateway, "/usage?group_by=model&account_id=user_report");
    const rows = report.body["data"] as Record<string, number>[];
    const of = (model: string) => rows.find((row) => (row["model"] as unknown) === model)!;
    expect(of(SONNET)).toMatchObject({ requests: 1, tokens_prompt: 2_000, tokens_completion: 300 });
    expect(of(OPUS)).toMatchObject({ requests: 0, tokens_prompt: 2_400, tokens_completion: 1_200 });
    expect(of(SONNET)["cost_nanodollars"]! + of(OPUS)["cost_nanodollars"]!).toBe(
      generation.total_cost_nanodollars,
    );
  });

  test("the hold includes the cost of all consultations that the tool allows", async () => {
    const required = async (tools: object[]) => {
      const key = await addAccountWithKey(gateway, { id: `user_probe${probes++}` });
      const { text } = await ask("/messages", { tools }, key);
      return (
        (JSON.parse(text) as { error: { metadata: { required: number } } }).error.metadata.required * 1e9
      );
    };
    const other = await priceOf(OPUS);
    const plain = await required([]);
    const [one, three] = [
      await required([{ ...TOOL, max_uses: 1 }]),
      await required([{ ...TOOL, max_uses: 3 }]),
    ];
    expect(one - plain).toBeGreaterThan(500 * other.prompt + 8_192 * other.completion);
    expect(three - one).toBeGreaterThan(2 * (500 * other.prompt + 8_192 * other.completion) - 1);
  });

  test("an advisor that is not in the catalog is charged at the prices of the model, and impossible counts are not charged", async () => {
    answer({ ...ADVISED, iterations: [run("advisor_message", 1_000, 100, "claude-oracle-9")] });
    const own = await priceOf(SONNET);
    const { generation } = await ask("/messages");
    expect(generation.advisors).toMatchObject([{ model: "claude-oracle-9" }]);
    expect(generation.total_cost_nanodollars).toBe(Math.round(3_000 * own.prompt + 400 * own.completion));
    answer({ ...ADVISED, iterations: [run("advisor_message", 1e19, 100, "claude-opus-4-7")] });
    const lied = await ask("/messages");
    expect(lied.generation).toMatchObject({ estimated: true, advisors: [] });
    expect(lied.generation.total_cost_nanodollars).toBe(
      Math.round(2_000 * own.prompt + 300 * own.completion),
    );
    expect(gateway.log.filter(({ event }) => event.includes("counts more"))).toHaveLength(1);
  });

  test("the counts of all advisors together are accepted up to 32 million tokens", async () => {
    const runs = (last: number) => [
      run("advisor_message", 16_000_000, 1_000_000, "claude-opus-4-7"),
      run("advisor_message", 14_000_000, last, "claude-opus-4-7"),
    ];
    answer({ ...ADVISED, iterations: runs(1_000_000) });
    expect((await ask("/messages")).generation.advisors).toHaveLength(2);
    gateway.log.length = 0;
    answer({ ...ADVISED, iterations: runs(1_000_001) });
    expect((await ask("/messages")).generation.advisors).toEqual([]);
    const rejected = gateway.log.filter(({ event }) => event.includes("counts more"));
    expect(rejected.map(({ fields }) => fields)).toMatchObject([
      { field: "advisors", count: 32_000_001, bound: 32_000_000 },
    ]);
  });
});
let probes = 0;

test("an answer that the vendor took from another model is charged at that model's prices", async () => {
  const iterations = [
    run("message", 400, 0, "claude-sonnet-4-6"),
    run("fallback_message", 420, 260, "claude-opus-4-7"),
  ];
  answer({ input_tokens: 420, output_tokens: 260, iterations });
  const { generation } = await ask("/messages");
  const other = await priceOf(OPUS);
  expect(generation).toMatchObject({
    tokens_prompt: 420,
    tokens_completion: 260,
    total_cost_nanodollars: Math.round(420 * other.prompt + 260 * other.completion),
  });
});
