import { expect, test } from "bun:test";
import fc from "fast-check";
import type { RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import { relayChatAnswer } from "../../../src/wire/openai-chat/passthrough/relay-response.ts";

const IDENTITY: RelayIdentity = {
  id: "gen_1",
  model: "acme/m",
  created: 7,
  originalIds: null,
  makeCallId: () => "call_1",
  onTurn: () => {},
};
const END = {
  report: {
    usage: NO_TOKENS,
    cost: 0,
    upstreamInferenceCost: 0,
    upstreamPromptCost: 0,
    upstreamCompletionCost: 0,
    isByok: false,
  },
  metadata: null,
};

function relay(answer: unknown): Record<string, unknown> {
  const relayed = relayChatAnswer(JSON.stringify(answer), IDENTITY);
  if (relayed.kind === "error") throw new Error(relayed.error.message);
  return JSON.parse(relayed.encode(END));
}

/** Fields that the gateway does not know. */
const others = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,8}$/), fc.jsonValue(), { maxKeys: 4 });
const choices = fc.array(
  fc.record({
    x: others,
    message: fc.record({ x: others, content: fc.option(fc.string({ unit: "grapheme" })) }),
  }),
  { minLength: 1, maxLength: 3 },
);

test("a chat answer that needs no correction is relayed with every field in the vendor's order, except the gateway's own", () => {
  fc.assert(
    fc.property(others, choices, (more, given) => {
      const message = (content: string | null, x: object) => ({ role: "assistant", ...x, content });
      const body = {
        ...more,
        choices: given.map(({ x, message: { x: y, content } }, index) => ({
          ...x,
          index,
          message: message(content, y),
          finish_reason: "stop",
        })),
      };
      const answer = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m-1", ...body };
      const relayed = relay({ ...answer, usage: { prompt_tokens: 1, completion_tokens: 1 } });
      const { usage, ...rest } = relayed;
      const own = { id: "gen_1", object: "chat.completion", created: 7, model: "acme/m" };
      expect(JSON.stringify(rest)).toBe(JSON.stringify({ ...own, ...body, system_fingerprint: null }));
      expect(usage).toMatchObject({ prompt_tokens: 0, cost: 0 });
    }),
  );
});

test("a chat answer has only the fields in which the gateway spells reasoning and calls", () => {
  const message = {
    content: "",
    reasoning_content: "so",
    tool_calls: [],
    function_call: null,
    reasoning: null,
  };
  const choice = { finish_reason: "eos", delta: null, usage: { prompt_tokens: 1 }, message };
  expect(relay({ error: null, choices: [choice] })).toMatchObject({
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        native_finish_reason: "eos",
        message: {
          role: "assistant",
          content: "",
          reasoning: "so",
          reasoning_content: "so",
          reasoning_details: [{ type: "reasoning.text", text: "so", format: "unknown", index: 0 }],
        },
      },
    ],
  });
  const relayed = relay({ error: null, choices: [choice] });
  expect(Object.keys(relayed)).not.toContain("error");
  const [first] = relayed["choices"] as [{ message: object }];
  expect(Object.keys(first)).toEqual(["finish_reason", "message", "index", "native_finish_reason"]);
  expect(Object.keys(first.message)).not.toContain("tool_calls");
});

test.each([
  ["no text", {}, true],
  ["an empty text", { content: "" }, true],
  ["a text", { content: "Hi" }, false],
  ["reasoning", { content: "", reasoning_content: "so" }, false],
  ["a call", { content: null, tool_calls: [{ id: "c", function: { name: "f", arguments: "" } }] }, false],
  ["an image", { content: "", images: [{ image_url: { url: "data:" } }] }, false],
])(
  "a chat answer with %s in its only or second choice is recognized as empty or not",
  (_what, message, isEmpty) => {
    const choice = (of: object) => ({ finish_reason: "stop", message: { role: "assistant", ...of } });
    const emptiness = (...choices: readonly object[]) =>
      relayChatAnswer(JSON.stringify({ choices }), IDENTITY);
    expect(emptiness(choice(message))).toMatchObject({ kind: "answer", isEmpty });
    expect(emptiness(choice({ content: "" }), choice(message))).toMatchObject({ kind: "answer", isEmpty });
    const incomplete = { ...choice(message), finish_reason: "length" };
    expect(emptiness(incomplete)).toMatchObject({ kind: "answer", isEmpty: false });
  },
);
