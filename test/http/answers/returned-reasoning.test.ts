import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { responsesScript } from "../../support/vendors/scripts/responses-script.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  const host = (name: string, models: string) =>
    `  ${name}: {base_url: "${vendor.baseUrl}", format: openai-responses, api_keys: [sk-host-0123456789], models: [${models}]}`;
  gateway = await startTestGateway({
    repeats: 0,
    yaml: `providers:
${host("grok-host", "{id: x-ai/grok-4, name: grok-4}")}
${host("gpt-host", "{id: openai/gpt-5.4, name: gpt-5.4}")}
${host("thinker", "{id: openai/gpt-oss-120b, name: gpt-oss-120b}")}`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const XAI_TEXT = "q2Zk8dXo1LwYp7c0";
const OPENAI_TEXT = "gAAAAABpQm9vTGVhbg";

/** Sends one item of reasoning as a Responses client does, and returns the one that reaches the vendor. */
async function sendBack(
  model: string,
  item: object,
): Promise<{ readonly sent: unknown; readonly answer: string }> {
  vendor.perform((call) => call.respond(200, responsesScript.document("Hi", "stop")));
  const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "A" }] };
  const input = [
    { role: "user", content: "Hello!" },
    { type: "reasoning", summary: [], ...item },
    message,
    { role: "user", content: "Go on!" },
  ];
  const response = await fetch(`${gateway.base}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model, input }),
  });
  const answer = await response.text();
  expect([response.status, answer]).toEqual([200, answer]);
  const items = vendor.calls[0]?.body["input"] as readonly { readonly type?: string }[];
  return { sent: items.find(({ type }) => type === "reasoning"), answer };
}

describe("encrypted reasoning of xAI", () => {
  test.each([
    ["without an id", {}],
    ["with an id of a tool's output", { id: "tco_0a1b" }],
    ["with a UUID", { id: "rs_0b1c2d3e-1111-2222-3333-444455556666" }],
  ])("%s reaches Grok", async (_what, id) => {
    const item = { ...id, encrypted_content: XAI_TEXT };
    expect((await sendBack("x-ai/grok-4", item)).sent).toMatchObject(item);
  });

  test("does not reach a model of OpenAI, which a warning says", async () => {
    const { sent, answer } = await sendBack("openai/gpt-5.4", { encrypted_content: XAI_TEXT });
    expect(sent).toBeUndefined();
    expect(answer).toContain("Reasoning of an earlier turn was left out");
  });
});

describe("encrypted reasoning of OpenAI without an id", () => {
  test("reaches a model of OpenAI and not Grok", async () => {
    const item = { encrypted_content: OPENAI_TEXT };
    expect((await sendBack("openai/gpt-5.4", item)).sent).toMatchObject(item);
    expect((await sendBack("x-ai/grok-4", item)).sent).toBeUndefined();
  });
});

test("plain reasoning reaches the operator's own host whose model reasons", async () => {
  const item = { id: "rs_1", content: [{ type: "reasoning_text", text: "Hm." }] };
  expect((await sendBack("openai/gpt-oss-120b", item)).sent).toMatchObject(item);
});
