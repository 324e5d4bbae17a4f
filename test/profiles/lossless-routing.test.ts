import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AskableApi } from "../support/clients/client-apis.ts";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import {
  CHAT,
  type Fields,
  MESSAGES,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

const MODEL = "acme/one";

function host(path: string, price: string, takes: Fields) {
  const models = [{ id: MODEL, context_length: 100_000, prices: { prompt: price, completion: price } }];
  return { base_url: `{vendor}/${path}`, api_keys: [`sk-test-${path}-0001`], takes, models };
}

const CONFIGURED = {
  providers: {
    // The cheaper one.
    cellar: host("cellar", "0.000001", {
      seed: "no",
      stop: "no",
      user: "no",
      structured_outputs: "no",
      temperature: { max: 1 },
      top_p: { not_with: { parameter: "temperature" } },
      reasoning_effort: { values: ["low"] },
    }),
    attic: host("attic", "0.000009", { top_k: "no" }),
  },
};

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(JSON.stringify(CONFIGURED));
});
afterAll(() => site.stop());

let asked = 0;

/** Returns the plan of a request of a new conversation, as the answer's header has it. */
async function planOf(api: AskableApi, more: Fields, text = `Hello ${asked++}`): Promise<string | null> {
  site.vendor.reset(answerAnyFormat);
  const body = { ...api.body(MODEL, more) };
  if (body["input"] !== undefined) body["input"] = text;
  else body["messages"] = [{ role: "user", content: text }];
  const response = await fetch(`${site.gateway.base}${api.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get("x-gateway-route");
}

const BY_PRICE = "cellar;why=price, attic;why=price";
const LOSSLESS = "attic;why=price, cellar;why=lossy";
const SCHEMA = { name: "place", schema: { type: "object", properties: {} } };

describe("a deployment that gets all of the request", () => {
  test.each([
    ["a parameter that the cheaper one does not take", CHAT, { seed: 7 }],
    ["a value that it limits", CHAT, { temperature: 1.5 }],
    ["a parameter that it does not take beside another", CHAT, { temperature: 0.5, top_p: 0.5 }],
    ["an effort that it does not have", CHAT, { reasoning_effort: "high" }],
    ["a schema", CHAT, { response_format: { type: "json_schema", json_schema: SCHEMA } }],
    ["a value of Responses that it limits", RESPONSES, { temperature: 1.5 }],
    ["a schema of Responses", RESPONSES, { text: { format: { type: "json_schema", ...SCHEMA } } }],
    ["a parameter of Messages that it does not take", MESSAGES, { stop_sequences: ["END"] }],
  ] as const)("precedes a cheaper one for a request with %s", async (_what, api, more) => {
    expect(await planOf(api, more)).toBe(LOSSLESS);
  });

  test.each([
    ["no such parameter", {}],
    ["a value that both take", { temperature: 0.5 }],
    ["null", { seed: null, stop: null }],
    ["what does not change the answer", { user: "someone" }],
    ["reasoning switched off", { reasoning_effort: "none" }],
    ["a format without a schema", { response_format: { type: "text" } }],
    ["losses at both", { seed: 7, top_k: 5 }],
  ] as const)("does not precede a cheaper one for a request with %s", async (_what, more) => {
    expect(await planOf(CHAT, more)).toBe(BY_PRICE);
  });

  test("does not precede what the caller orders or sorts by", async () => {
    const ordered = await planOf(CHAT, { seed: 7, provider: { order: ["cellar"] } });
    expect(ordered).toBe("cellar;why=order, attic;why=price");
    expect(await planOf(CHAT, { seed: 7, provider: { sort: "price" } })).toBe(BY_PRICE);
  });

  test("does not precede one that has the conversation in its cache", async () => {
    expect(await planOf(CHAT, {}, "Stay")).toBe(BY_PRICE);
    expect(await planOf(CHAT, { seed: 7 }, "Stay")).toBe("cellar;why=warm_cache, attic;why=price");
  });

  test("is followed by the others, so that a failure is answered by one of them", async () => {
    const { status, sent, named } = await site.ask(CHAT, MODEL, { seed: 7 }, (request) =>
      request.path.includes("attic") ? new Response("{}", { status: 500 }) : answerAnyFormat(request),
    );
    expect([status, named]).toEqual([200, ["seed"]]);
    expect(sent).not.toContainKey("seed");
  });
});
