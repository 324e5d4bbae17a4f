import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";
import OpenAI, { BadRequestError } from "openai";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** What programs that were written for OpenRouter send, at the path where they send it: docs/migrate-from/openrouter.md. */

let cheap: Vendor;
let expensive: Vendor;
let gateway: TestGateway;
let openai: OpenAI;

beforeAll(async () => {
  cheap = startVendor();
  expensive = startVendor();
  const models = (prices: string) =>
    `[{id: acme/model, prices: {${prices}}}, {id: acme/other, prices: {${prices}}}]`;
  gateway = await startTestGateway({
    yaml: `
providers:
  cheap:
    base_url: "${cheap.baseUrl}"
    models: ${models('prompt: "0.000001", completion: "0.000002"')}
  expensive:
    base_url: "${expensive.baseUrl}"
    models: ${models('prompt: "0.000003", completion: "0.000004"')}
named_routes:
  openrouter/auto: {kind: alias, target: acme/model}
`,
  });
  openai = new OpenAI({
    baseURL: `${gateway.url}/api/v1`,
    apiKey: gateway.key,
    maxRetries: 0,
    defaultHeaders: { "HTTP-Referer": "https://app.example.com", "X-Title": "App" },
  });
});
beforeEach(() => {
  cheap.perform(healthy("Cheap"));
  expensive.perform(healthy("Expensive"));
});
afterAll(async () => {
  await gateway.stop();
  cheap.stop();
  expensive.stop();
});

/** A request with fields that OpenAI's types do not have. */
async function send(more: Readonly<Record<string, unknown>>) {
  const body = { model: "acme/model", messages: [{ role: "user", content: "Hello!" }], ...more };
  const { data, response } = await openai.chat.completions
    .create(body as OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming)
    .withResponse();
  return { data, provider: response.headers.get("x-gateway-provider"), headers: response.headers };
}

describe("a program that was written for OpenRouter", () => {
  test.each([
    ["provider.order", { provider: { order: ["expensive"] } }, "expensive"],
    ["provider.only", { provider: { only: ["expensive"] } }, "expensive"],
    ["provider.ignore", { provider: { ignore: ["cheap"] } }, "expensive"],
    ["provider.max_price", { provider: { max_price: { prompt: 1, completion: 2 } } }, "cheap"],
  ])("chooses the provider by %s", async (_, more, provider) => {
    expect((await send(more)).provider).toBe(provider);
  });

  test.each([
    ["provider.sort", { provider: { sort: "throughput" } }, "throughput"],
    ["the suffix :nitro", { model: "acme/model:nitro" }, "throughput"],
    ["the suffix :floor", { model: "acme/model:floor", session_id: "floor" }, "price"],
  ])("sorts providers by %s", async (_, more, why) => {
    const { headers } = await send(more);
    expect(headers.get("x-gateway-route")).toEndWith(`expensive;why=${why}`);
  });

  test("may send usage, reasoning, a session, and the headers HTTP-Referer and X-Title, which are not forwarded to the provider", async () => {
    const { data } = await send({
      usage: { include: true },
      reasoning: { effort: "low" },
      session_id: "one",
    });
    expect(data.choices[0]?.message.content).toContain("one two");
    const [call] = [...cheap.calls, ...expensive.calls];
    expect(call?.head.toLowerCase()).not.toMatch(/referer|x-title/);
    expect(call?.body).not.toContainAnyKeys(["usage", "session_id", "provider"]);
  });

  test("gets the fallbacks of `models` when the providers of the model fail", async () => {
    const failing = (name: string) => (call: Parameters<ReturnType<typeof healthy>>[0]) =>
      call.body["model"] === "model"
        ? call.respond(500, { error: { message: "down" } })
        : healthy(name)(call);
    cheap.perform(failing("Cheap"));
    expensive.perform(failing("Expensive"));
    const { data } = await send({ models: ["acme/other"], provider: { only: ["cheap", "expensive"] } });
    expect(data.model).toBe("acme/other");
  });

  test("finds the cost in the answer, and the generation, its key and its credits right after it", async () => {
    const { data } = await send({});
    expect(data.usage).toMatchObject({ cost: 0.00002, is_byok: false });
    const get = async (path: string) => {
      const response = await fetch(`${gateway.url}/api/v1/${path}`, {
        headers: { authorization: `Bearer ${gateway.key}` },
      });
      return ((await response.json()) as { data: Readonly<Record<string, unknown>> }).data;
    };
    expect(await get(`generation?id=${data.id}`)).toMatchObject({
      model: "acme/model",
      provider_name: "cheap",
      total_cost: 0.00002,
      tokens_prompt: 10,
    });
    expect(await get("key")).toContainKeys(["label", "usage", "limit", "limit_remaining"]);
    expect(await get("credits")).toContainKeys(["total_credits", "total_usage"]);
  });

  test("keeps names of models for which there is a named route", async () => {
    expect((await send({ model: "openrouter/auto" })).data.model).toBe("acme/model");
  });

  test("gets the errors that the document names: no model, an unknown model, and a suffix that is none", async () => {
    for (const more of [
      { model: undefined, models: ["acme/model"] },
      { model: "acme/none" },
      { model: "acme/model:online" },
    ])
      expect(await send(more).catch((error: unknown) => error)).toBeInstanceOf(BadRequestError);
  });

  test("gets its answer although it sends preferences that the gateway does not have", async () => {
    const provider = {
      quantizations: ["fp8"],
      preferred_min_throughput: 50,
      sort: { by: "price", partition: "none" },
    };
    expect((await send({ provider })).provider).toBe("cheap");
  });

  test("calls the same with the AI SDK", async () => {
    const sdk = createOpenAICompatible({
      name: "gateway",
      baseURL: `${gateway.url}/api/v1`,
      apiKey: gateway.key,
      includeUsage: true,
    });
    const { text, usage } = await generateText({
      model: sdk("acme/model"),
      prompt: "Hello!",
      providerOptions: { gateway: { provider: { order: ["expensive"] } } },
    });
    expect([text, usage.inputTokens]).toEqual(["Expensive one two", 10]);
  });
});
