import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { failureOf } from "../../../../src/base/failures/errors.ts";
import {
  copyAddedItems,
  type ItemBytes,
  joinConnection,
  readPreviousId,
  scanState,
} from "../../../../src/wire/openai-responses/socket/join-connection.ts";

const scan = (body: unknown) =>
  scanState(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));

const bytesOf = (...parts: readonly (readonly unknown[])[]): ItemBytes =>
  parts.map((items) => Buffer.from(items.map((item) => JSON.stringify(item)).join(",")));

const join = (body: unknown, earlier: ItemBytes = []) => joinConnection(scan(body), earlier).toString();

/** Returns the message of a rejection, and the field that it names. */
function rejectionOf(read: () => unknown): readonly [string, unknown] {
  try {
    read();
  } catch (error) {
    const { code, message, metadata } = failureOf(error);
    expect(code).toBe("invalid_request");
    return [message, metadata?.["field"]];
  }
  throw new Error("nothing was rejected");
}

const user = (content: string) => ({ type: "message", role: "user", content });
const call = (id: string) => ({ type: "function_call", call_id: id, name: "look", arguments: "{}" });
const result = (id: string) => ({ type: "function_call_output", call_id: id, output: "sunny" });

describe("the joined input of a request", () => {
  test("has the earlier items before those of the request, without the fields that they replace", () => {
    const body = { model: "acme/model", previous_response_id: "gen_1", input: [user("two")], store: false };
    expect(join(body, bytesOf([user("one")], [call("a"), result("a")]))).toBe(
      `{"model":"acme/model","input":[${[user("one"), call("a"), result("a"), user("two")].map((item) => JSON.stringify(item)).join(",")}],"store":false}`,
    );
  });

  test("keeps all other bytes as they were sent", () => {
    const body =
      '{ "model" : "a\\u002fb",\n "previous_response_id": "gen_1" , "input":[ {"role":"user","content":"ü"} ] }';
    expect(join(body, bytesOf([user("é")]))).toBe(
      '{ "model" : "a\\u002fb",\n "input":[{"type":"message","role":"user","content":"é"},{"role":"user","content":"ü"}] }',
    );
  });

  test("has a text as a message of the user", () => {
    expect(
      JSON.parse(join({ previous_response_id: "gen_1", input: 'say "hi"' }, bytesOf([user("one")]))),
    ).toEqual({
      input: [user("one"), user('say "hi"')],
    });
  });

  test.each([
    ["no member", {}],
    ["null", { input: null }],
    ["an empty list", { input: [] }],
  ])("has only the earlier items if the request's own input is %s", (_, own) => {
    const earlier = bytesOf([user("one")], [], [user("two")]);
    for (const more of [{ model: "acme/model" }, {}]) {
      const joined: unknown = JSON.parse(join({ ...more, previous_response_id: "gen_1", ...own }, earlier));
      expect(joined).toEqual({ ...more, input: [user("one"), user("two")] });
    }
  });

  test("is the same as that of a parsed request, whatever the order of its members", () => {
    const member = fc.constantFrom(
      "model",
      "tools",
      "a b",
      "type",
      "previous_response_id",
      "conversation",
      "input",
    );
    const item = fc.record({ role: fc.string(), content: fc.jsonValue() });
    const members = fc.uniqueArray(member, { minLength: 1 });
    const given = fc.tuple(
      members,
      fc.array(item),
      fc.array(fc.array(item)),
      fc.constantFrom(undefined, 1, "\t"),
    );
    fc.assert(
      fc.property(given, ([names, own, earlier, indent]) => {
        const values: Record<string, unknown> = {
          previous_response_id: "gen_1",
          conversation: null,
          input: own,
        };
        const body = Object.fromEntries(
          names.map((name) => [name, name in values ? values[name] : `of ${name}`]),
        );
        const { previous_response_id: _, conversation: __, ...rest } = body;
        const joined = joinConnection(
          scan(JSON.stringify(body, null, indent)),
          bytesOf(...earlier),
        ).toString();
        const all = [...earlier.flat(), ...(names.includes("input") ? own : [])];
        expect(JSON.parse(joined)).toEqual(JSON.parse(JSON.stringify({ ...rest, input: all })));
      }),
    );
  });

  test("is made with further changes, also of members next to those that it replaces", () => {
    const body = scan({ type: "frame", a: 1, previous_response_id: "gen_1", b: 2 });
    const { type } = body.root.fields as { type?: { keyStart: number; end: number } };
    expect(type).toBeUndefined();
    const [frame] = body.root.members ?? [];
    const edits = [{ start: frame?.keyStart ?? 0, end: frame?.end ?? 0, insert: '"stream":true' }];
    const joined = joinConnection(body, [], { removed: new Set(["a", "b"]), edits }).toString();
    expect(joined).toBe('{"stream":true,"input":[]}');
  });
});

describe("a result in a request that continues a conversation", () => {
  const earlier = bytesOf([user("one")], [call("early")], [result("early"), user("two")]);

  test.each([
    ["is among the earlier items", [result("early")]],
    ["is before it in the input", [call("own"), result("own")]],
    [
      "is one of a free-text tool",
      [
        { ...call("free"), type: "custom_tool_call" },
        { ...result("free"), type: "custom_tool_call_output" },
      ],
    ],
    ["is one that only OpenAI has", [{ type: "local_shell_call", call_id: "shell" }, result("shell")]],
  ])("is accepted if its call %s", (_, input) => {
    expect(() => join({ input }, earlier)).not.toThrow();
  });

  test("is rejected with OpenAI's words if its call is in neither", () => {
    expect(rejectionOf(() => join({ input: [user("x"), result("lost")] }, earlier))).toEqual([
      expect.stringContaining("No tool call found for function call output with call_id lost."),
      "input[1].call_id",
    ]);
    expect(rejectionOf(() => join({ input: [result("lost")] }))[1]).toBe("input[0].call_id");
  });

  test("is not a call itself", () => {
    const [, field] = rejectionOf(() => join({ input: [result("a")] }, bytesOf([result("a")])));
    expect(field).toBe("input[0].call_id");
  });

  test("may write its id with escapes", () => {
    const body = '{"input":[{"type":"function_call_output","call_id":"\\u0065arly","output":""}]}';
    expect(() => join(body, earlier)).not.toThrow();
  });
});

describe("the added items of a request", () => {
  test("are copied from its input, without brackets", () => {
    expect(copyAddedItems(scan('{"input":[ {"a":1} , {"b":2} ]}')).toString()).toBe('{"a":1} , {"b":2}');
    expect(copyAddedItems(scan('{"input":[]}')).length).toBe(0);
    expect(copyAddedItems(scan("{}")).length).toBe(0);
    expect(JSON.parse(copyAddedItems(scan({ input: "ü" })).toString())).toEqual(user("ü"));
  });

  test("do not keep the body in memory", () => {
    const body = scan({ input: [user("x".repeat(10_000))], model: "y".repeat(10_000) });
    expect(copyAddedItems(body).buffer).not.toBe(body.bytes.buffer);
  });
});

test("the id of the previous response is null if the request names none", () => {
  expect(readPreviousId(scan({ previous_response_id: "gen_\u00e9" }))).toBe("gen_é");
  expect(readPreviousId(scan({ previous_response_id: null }))).toBeNull();
  expect(readPreviousId(scan({}))).toBeNull();
});

test.each([
  ["[1]", "body"],
  ['{"input":7}', "input"],
  ['{"input":{}}', "input"],
  ['{"previous_response_id":7}', "previous_response_id"],
  ['{"previous_response_id":"gen_1","conversation":"conv_1"}', "conversation"],
  ['{"input":[}', undefined],
])("the body %s is rejected", (body, field) => {
  expect(rejectionOf(() => scan(body))[1]).toBe(field);
});
