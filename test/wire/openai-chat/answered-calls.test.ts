import { expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import { repairToolCalls } from "../../../src/wire/conversation/calls/repair-tool-calls.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";
import { scanChatRequest } from "../../../src/wire/openai-chat/passthrough/scan-request.ts";

const RULES = toolCallRulesOf("openai-chat", "openai");
const SCHEMA = { type: "object" };

const call = (id: unknown) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
const assistant = (...ids: unknown[]) => ({ role: "assistant", content: "a", tool_calls: ids.map(call) });
const result = (tool_call_id: unknown) => ({ role: "tool", tool_call_id, content: "r" });

function scan(messages: readonly unknown[]) {
  const tools = [{ type: "function", function: { name: "f", parameters: SCHEMA } }];
  return scanChatRequest(Buffer.from(JSON.stringify({ model: "a/m", messages, tools })));
}

const someId = fc.constantFrom(
  "a",
  "b",
  "call_1",
  "call_2",
  "",
  null,
  'a"',
  "é",
  "x".repeat(64),
  "x".repeat(65),
);
const message = fc.oneof(
  { weight: 3, arbitrary: fc.array(someId, { maxLength: 3 }).map((ids) => [assistant(...ids)]) },
  { weight: 3, arbitrary: someId.map((id) => [result(id)]) },
  { weight: 1, arbitrary: fc.constant([{ role: "user", content: "u" }]) },
  {
    weight: 4,
    arbitrary: fc.array(someId, { maxLength: 3 }).map((ids) => [assistant(...ids), ...ids.map(result)]),
  },
);
const conversation = fc.array(message, { minLength: 1, maxLength: 6 }).map((parts) => parts.flat());

test("calls that are read as answered in order need no repair, whatever the conversation is", () => {
  let inOrder = 0;
  fc.assert(
    fc.property(conversation, (messages) => {
      try {
        const scanned = scan(messages);
        if (!scanned.hasCallsInOrder) return;
        inOrder++;
        expect(repairToolCalls(scanned.outline.read(), RULES)).toBeNull();
      } catch (error) {
        // It is unclear which call a result answers.
        if (!(error instanceof GatewayError)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
  expect(inOrder).toBeGreaterThan(100);
});

/** Whether a conversation is accepted and its calls are known to be in order. */
function hasCallsInOrder(messages: readonly unknown[]): boolean {
  try {
    return scan(messages).hasCallsInOrder;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

test.each([
  ["no calls", [{ role: "user", content: "u" }]],
  ["calls in parallel whose results are in their order", [assistant("a", "b"), result("a"), result("b")]],
  ["two turns with the same id", [assistant("a"), result("a"), assistant("a"), result("a")]],
])("a conversation with %s is known to be in order", (_what, messages) => {
  expect(hasCallsInOrder(messages)).toBe(true);
});

test.each([
  ["results in another order", [assistant("a", "b"), result("b"), result("a")]],
  ["a call without a result at the end", [assistant("a")]],
  ["a call without a result before a message", [assistant("a"), { role: "user", content: "u" }]],
  ["a result without a call", [{ role: "user", content: "u" }, result("a")]],
  ["two calls with one id", [assistant("a", "a"), result("a"), result("a")]],
  ["an id that is longer than hosts accept", [assistant("x".repeat(65)), result("x".repeat(65))]],
])("a conversation with %s is left to the check of its whole outline", (_what, messages) => {
  expect(hasCallsInOrder(messages)).toBe(false);
});
