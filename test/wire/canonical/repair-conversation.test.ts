import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { repairConversation } from "../../../src/wire/canonical/fit/repair-conversation.ts";
import { stripReasoning } from "../../../src/wire/canonical/fit/strip-reasoning.ts";
import {
  type Part,
  plainReasoning,
  type ToolCallPart,
  type ToolResultPart,
} from "../../../src/wire/canonical/model/parts.ts";
import { EMPTY_REQUEST, type Message } from "../../../src/wire/canonical/model/request.ts";
import { INTERRUPTED } from "../../../src/wire/conversation/calls/repair-tool-calls.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";

const text = (words: string): Part => ({ kind: "text", text: words });
const call = (id: string, fields: Partial<ToolCallPart> = {}): ToolCallPart => ({
  kind: "tool-call",
  id,
  name: `f_${id}`,
  tool: "function",
  arguments: "{}",
  ...fields,
});
const result = (callId: string, words = callId): ToolResultPart => ({
  kind: "tool-result",
  callId,
  tool: "function",
  content: [text(words)],
  isError: false,
});
const user: Message = { role: "user", parts: [text("hi")] };
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts });
const tool = (...parts: Part[]): Message => ({ role: "tool", parts });
const request = (...messages: Message[]) => ({ ...EMPTY_REQUEST, messages });

const OPENAI = toolCallRulesOf("openai-chat", "openai");

describe("the repair of a canonical conversation", () => {
  test("returns a valid conversation unchanged", () => {
    const valid = request(
      user,
      assistant(text("x"), call("a"), call("b")),
      tool(result("b"), result("a")),
      user,
    );
    const { request: repaired, repair } = repairConversation(valid, OPENAI);
    expect(repair).toBeNull();
    expect(repaired).toBe(valid);
  });

  test("removes duplicate calls and results without a call, and keeps the texts between them", () => {
    const broken = request(
      user,
      assistant(call("a", { arguments: '{"first":1}' }), text("x"), call("a")),
      tool(result("a"), result("ghost")),
    );
    const { request: repaired, repair } = repairConversation(broken, OPENAI);
    expect(repaired.messages).toEqual([
      user,
      assistant(call("a", { arguments: '{"first":1}' }), text("x")),
      tool(result("a")),
    ]);
    expect(repair?.counts).toEqual({
      duplicateCallsRemoved: 1,
      orphanResultsRemoved: 1,
      placeholdersAdded: 0,
      idsMapped: 0,
    });
  });

  test("adds placeholders with the tool's name for missing results", () => {
    const broken = request(assistant(call("a"), call("b", { tool: "custom" })), tool(result("a")), user);
    const { request: repaired } = repairConversation(broken, OPENAI);
    expect(repaired.messages).toEqual([
      broken.messages[0]!,
      tool(result("a")),
      tool({
        kind: "tool-result",
        callId: "b",
        toolName: "f_b",
        tool: "custom",
        content: [text(INTERRUPTED)],
        isError: true,
      }),
      user,
    ]);
  });

  test("moves results up to their calls and keeps results of one message in one message", () => {
    const late = tool(result("b"), result("c"));
    const broken = request(assistant(call("a"), call("b"), call("c")), tool(result("a")), user, late);
    expect(repairConversation(broken, OPENAI).request.messages).toEqual([
      broken.messages[0]!,
      tool(result("a")),
      late,
      user,
    ]);
  });

  test("removes a message that only repeats a call, with its reasoning, and no other message", () => {
    const thought: Part = { ...plainReasoning("Again?") };
    const broken = request(
      assistant(call("a")),
      tool(result("a")),
      assistant(thought, call("a")),
      user,
      assistant(text("x"), call("a")),
      user,
    );
    const [first, second] = broken.messages;
    expect(repairConversation(broken, OPENAI).request.messages).toEqual([
      first!,
      second!,
      user,
      assistant(text("x")),
      user,
    ]);
  });

  test("joins adjacent messages with a separator where results must follow one message", () => {
    const broken = request(
      assistant(text("I look."), call("a")),
      assistant(call("b"), text("And here.")),
      tool(result("a"), result("b")),
    );
    expect(repairConversation(broken, OPENAI).request.messages).toEqual([
      assistant(text("I look."), text("\n\n"), text("And here."), call("a"), call("b")),
      tool(result("a"), result("b")),
    ]);
    const kept = repairConversation(broken, toolCallRulesOf("bedrock-converse", "anthropic"));
    expect(kept.request).toBe(broken);
  });

  test("maps the ids of calls and of their results to the same ids", () => {
    const long = "toolu_01A2B3";
    const { request: repaired, repair } = repairConversation(
      request(assistant(call(long)), tool(result(long))),
      toolCallRulesOf("openai-chat", "mistral"),
    );
    const [sent] = repair!.originalIds.keys();
    expect(sent).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(repair!.originalIds.get(sent!)).toBe(long);
    expect(repaired.messages).toEqual([
      assistant(call(long, { id: sent! })),
      tool({ ...result(long), callId: sent! }),
    ]);
  });

  test("changes nothing when repeated, and keeps every text of any conversation", () => {
    const id = fc.constantFrom("", "a", "b", "an id");
    const message = fc.oneof(
      fc.constant(user),
      fc
        .array(
          fc.oneof(
            id.map((one) => call(one)),
            fc.constant(text("t")),
          ),
          { maxLength: 4 },
        )
        .map((parts) => assistant(...parts)),
      fc
        .array(
          id.map((one) => result(one)),
          { minLength: 1, maxLength: 3 },
        )
        .map((parts) => tool(...parts)),
    );
    const rules = fc.constantFrom(...FORMAT_NAMES.map((format) => toolCallRulesOf(format, "mistral")));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), rules, (generated, by) => {
        // Without a message of the user, nothing may be left to answer, which is rejected.
        const messages = [user, ...generated];
        const { request: repaired } = repairConversation(request(...messages), by);
        expect(repairConversation(repaired, by).repair).toBeNull();
        const texts = (list: readonly Message[]) =>
          list.flatMap(({ parts }) => parts.filter((part) => part.kind === "text" && part.text !== "\n\n"));
        expect(texts(repaired.messages)).toEqual(texts(messages));
      }),
      { numRuns: 500 },
    );
  });
});

describe("the removal of reasoning", () => {
  test("removes reasoning, signatures, and turns that consist only of reasoning", () => {
    const signature = { value: "s", origin: "google-gemini-v1" };
    const thought: Part = {
      kind: "reasoning",
      text: "h",
      isSummary: false,
      signature: "s",
      encrypted: null,
      id: null,
      origin: null,
    };
    const stripped = stripReasoning(
      request(
        user,
        assistant(thought),
        assistant(thought, { kind: "text", text: "t", signature }, call("a", { signature })),
      ),
    );
    expect(stripped.messages).toEqual([user, { ...assistant(text("t"), call("a")), lacksReasoning: true }]);
  });
});
