import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMATS } from "../../fidelity/formats.ts";
import { openRequest, openRequestText } from "../../fidelity/open-request.ts";
import { makeTarget } from "../../fidelity/targets.ts";

const LONG_TEXT = "read ".repeat(100);

/** Returns a chat request whose turns have these arguments, and a short text. */
function ask(list: readonly string[], text: string) {
  const turns = list.flatMap((args, at) => [
    {
      role: "assistant",
      tool_calls: [{ id: `call_${at}`, type: "function", function: { name: "look", arguments: args } }],
    },
    { role: "tool", tool_call_id: `call_${at}`, content: LONG_TEXT },
  ]);
  return { model: "acme/model", messages: [{ role: "user", content: text }, ...turns] };
}

function translate(body: object, format: FormatName): string {
  return openRequest("chat", body as never)
    .encoding.encode(makeTarget(format))
    .body.toString();
}

describe("the arguments of calls in a conversation with long texts", () => {
  test.each(FORMATS)("mean the same to %s as without placeholders", (format) => {
    const json = fc.oneof(
      fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()).map((value) => JSON.stringify(value)),
      fc.constantFrom("", "null", "{}", "  { }\n", "[1]", "free text", '{"a":', '"\\u0001"', '{"\\u0001":0}'),
    );
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 4 }), (list) => {
        // A request that contains the mark of the placeholders is decoded whole.
        const whole = JSON.parse(translate(ask(list, "\u0001"), format).replace("\\u0001", "x"));
        expect(JSON.parse(translate(ask(list, "x"), format))).toEqual(whole);
      }),
      { numRuns: 100 },
    );
  });

  test("of ten thousand calls of one message are all sent", () => {
    const calls = Array.from({ length: 10_000 }, (_, at) => ({
      id: `call_${at}`,
      type: "function",
      function: { name: "look", arguments: `{"at": ${at}}` },
    }));
    const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "seen" }));
    const user = { role: "user", content: LONG_TEXT };
    const messages = [user, { role: "assistant", tool_calls: calls }, ...results];
    const sent = translate({ model: "acme/model", messages }, "anthropic-messages");
    expect(sent.match(/"input":\{"at": ?\d+\}/g)?.length).toBe(calls.length);
  });

  test("are rejected if they are nested too deep", () => {
    const deep = `{"a":${"[".repeat(300)}${"]".repeat(300)}}`;
    const request = openRequestText("chat", JSON.stringify(ask([deep], "x")));
    expect(() => request.encoding.encode(makeTarget("anthropic-messages"))).toThrow("levels of nesting");
  });
});
