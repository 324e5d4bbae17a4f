import { expect, test } from "bun:test";
import type { UpstreamTarget } from "../../../src/wire/client-apis/request/inference-request.ts";
import type { RequestProfile } from "../../../src/wire/conversation/request-profile.ts";
import { openRequest } from "../../fidelity/open-request.ts";
import { makeTarget } from "../../fidelity/targets.ts";

/** Every tool costs more than there is a price for. */
const COSTLY_TOOLS: RequestProfile = {
  fields: new Map(),
  tools: new Map(),
  others: "passes",
  reason: "it has no price",
};

const FORCED = {
  model: "acme/model",
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }],
  tool_choice: { type: "function", function: { name: "f" } },
};

function withCostlyTools(target: UpstreamTarget): UpstreamTarget {
  return { ...target, provider: { ...target.provider, profile: COSTLY_TOOLS } };
}

test("a request whose forced tool its own format cannot have is rejected, also if the endpoint has another format", () => {
  const own = withCostlyTools(makeTarget("openai-chat"));
  const { encoding } = openRequest("chat", FORCED);
  expect(() => encoding.plan([own]).encode()).toThrow("tool_choice requires a tool");
  expect(() => encoding.plan([own, makeTarget("anthropic-messages")])).toThrow("tool_choice requires a tool");
});

test("the plan of a request that is forwarded as it is names no turns and needs no other thread", () => {
  const { encoding } = openRequest("chat", FORCED);
  const plan = encoding.plan([makeTarget("anthropic-messages"), makeTarget("openai-chat")]);
  expect(plan.nameTurns()).toBeNull();
  expect(plan.offloaded).toBeNull();
  expect(plan.encode().format).toBe("openai-chat");
});
