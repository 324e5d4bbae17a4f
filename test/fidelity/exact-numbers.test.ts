import { describe, expect, test } from "bun:test";
import { endWith } from "../support/vendors/answer-end.ts";
import { makeIdentity, readStream } from "./answers/run-answers.ts";
import { VENDORS } from "./answers/vendors.ts";
import { CLIENTS, type Client, FORMATS } from "./formats.ts";
import { openRequest, openRequestText } from "./open-request.ts";
import { answered, makeBody } from "./requests/request-case.ts";
import { makeTarget } from "./targets.ts";

/** Numbers that a double does not have: a long identifier, more decimals, and one that is too large. */
const NUMBERS = ["1234567890123456789", "-0.1000000000000000055511", "9007199254740993e300"] as const;
/** Numbers that a double has, although they are long. */
const SAME = ["1732600000123456", "0.30000000000000004", "1.1920928955078125e-7"] as const;

/** Puts numbers in place of the words of a JSON text, which may be in JSON within a string. */
function withNumbers(json: string): string {
  return json.replaceAll(/\\*"MARKER-([a-z])\\*"/g, (_, letter) => `[${LISTS[letter]}]`);
}

const LISTS: Readonly<Record<string, string>> = { a: NUMBERS.join(), b: SAME.join() };

const PAIRS = CLIENTS.flatMap((client) => FORMATS.map((format) => [client, format] as const));

describe("numbers with more digits than a double has", () => {
  const EACH = [...NUMBERS, ...SAME];
  const input = { place: "MARKER-a", others: { deep: ["MARKER-b"] } };
  const json = JSON.stringify(input);
  const bodies = answered({
    chat: {
      content: null,
      tool_calls: [{ id: "call_a", type: "function", function: { name: "look", arguments: json } }],
    },
    responses: [{ type: "function_call", call_id: "call_a", name: "look", arguments: json }],
    messages: [{ type: "tool_use", id: "call_a", name: "look", input }],
  });
  const withResult: Readonly<Record<Client, object>> = {
    chat: { role: "tool", tool_call_id: "call_a", content: "seen" },
    responses: { type: "function_call_output", call_id: "call_a", output: "seen" },
    messages: { role: "user", content: [{ type: "tool_result", tool_use_id: "call_a", content: "seen" }] },
  };

  test.each(PAIRS)(
    "keep their digits in the arguments of a call that is sent from %s to %s",
    (client, format) => {
      const fields = bodies[client] as Record<string, readonly object[]>;
      const list = client === "responses" ? "input" : "messages";
      const body = makeBody(client, { [list]: (fields[list] ?? []).toSpliced(2, 0, withResult[client]) });
      const request = openRequestText(client, withNumbers(JSON.stringify(body)));
      const sent = request.encoding.encode(makeTarget(format)).body.toString();
      for (const number of EACH) expect(sent).toContain(number);
    },
  );

  test.each(PAIRS)("keep their digits in a call that is answered whole to %s by %s", (client, format) => {
    const answer = withNumbers(JSON.stringify(VENDORS[format]["parallel tool calls"]?.whole));
    const request = openRequest(client, makeBody(client, {}));
    const { answers } = request.encoding.encode(makeTarget(format));
    const whole = answers.readAnswer(answer, makeIdentity());
    if (whole.kind === "error") throw new Error(whole.error.message);
    const seen = whole.encode(endWith(whole.usage));
    for (const number of EACH) expect(seen).toContain(number);
  });

  // The others stream arguments as text.
  test.each(CLIENTS)("keep their digits in a call that Gemini streams to %s as an object", (client) => {
    const wire = withNumbers(VENDORS.gemini["parallel tool calls"]?.stream ?? "");
    const request = openRequest(client, makeBody(client, {}));
    const seen = readStream(request.encoding.encode(makeTarget("gemini")).answers, wire);
    for (const number of EACH) expect(seen).toContain(number);
  });
});
