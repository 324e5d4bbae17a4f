import { describe, expect, test } from "bun:test";
import { parseResponsesRequest } from "../../../../src/wire/client-apis/responses-request.ts";
import { askForCompaction } from "../../../../src/wire/openai-responses/state/compact-request.ts";
import { COMPACTION_PROMPT, OWN_COMPACTION } from "../../../../src/wire/openai-responses/state/compaction.ts";
import {
  type JoinedState,
  withId,
  withoutOwnId,
} from "../../../../src/wire/openai-responses/state/join-input.ts";
import { isStateless } from "../../../../src/wire/openai-responses/state/read-state.ts";

const stateOf = (body: object) => {
  const state = parseResponsesRequest(
    Buffer.from(JSON.stringify({ model: "a/b", ...body })),
    (id) => id,
  ).readState?.();
  if (state === undefined) throw new Error("the request has no state");
  return state;
};

const NOTHING: JoinedState = { earlier: [], replaced: new Map<string, string>(), compacts: false };
const joined = (body: object, state: Partial<JoinedState> = {}) =>
  JSON.parse(
    stateOf(body)
      .join({ ...NOTHING, ...state })
      .toString(),
  );

const user = (content: string) => ({ type: "message", role: "user", content });

describe("a request of the Responses API with state", () => {
  test.each([
    [{ input: "Hi" }, true],
    [{ input: "Hi", store: false }, true],
    [{ input: "Hi", store: null, previous_response_id: null, conversation: null, background: false }, true],
    [{ input: "Hi", store: true }, false],
    [{ input: "Hi", previous_response_id: "gen_1" }, false],
    [{ input: "Hi", conversation: "conv_1" }, false],
    [{ input: "Hi", conversation: { id: "conv_1" } }, false],
    [{ input: "Hi", background: true }, false],
    [{ input: [{ type: "item_reference", id: "msg_1" }] }, false],
    [{ input: [{ type: "compaction", encrypted_content: `${OWN_COMPACTION}e30` }] }, false],
    [{ input: [{ type: "compaction", encrypted_content: "gAAAA" }] }, true],
    [{ input: [user("Hi"), { type: "compaction_trigger" }] }, false],
  ])("%j is stateless: %p", (body, isExpected) => {
    expect(isStateless(stateOf(body).asked)).toBe(isExpected);
  });

  test.each([
    [{ store: "yes" }, "store"],
    [{ background: 1 }, "background"],
    [{ previous_response_id: 7 }, "previous_response_id"],
    [{ conversation: [] }, "conversation"],
    [{ previous_response_id: "gen_1", conversation: "conv_1" }, "previous_response_id"],
    [{ background: true, store: false }, "background"],
  ])("%j is rejected, and the error names the field %s", (body, field) => {
    expect(() => stateOf({ input: "Hi", ...body })).toThrow(field);
  });

  test("needs an input only if it continues nothing", () => {
    expect(() => stateOf({})).toThrow("input is required");
    expect(joined({ previous_response_id: "gen_1" }, { earlier: ['{"a":1}'] }).input).toEqual([{ a: 1 }]);
  });

  test("is joined with the earlier items in front of its own, and loses the fields about state", () => {
    const body = { input: [user("Two")], store: true, previous_response_id: "gen_1", temperature: 0.5 };
    expect(joined(body, { earlier: ['{"n":12345678901234567890}', '{"b":2}'] })).toEqual({
      model: "a/b",
      temperature: 0.5,
      input: [{ n: 12345678901234567000 }, { b: 2 }, user("Two")],
    });
    const bytes = stateOf(body)
      .join({ ...NOTHING, earlier: ['{"n":12345678901234567890}'] })
      .toString();
    expect(bytes).toContain("12345678901234567890");
  });

  test("has a text as its input, which becomes a message", () => {
    const body = { input: 'Say "hé"', previous_response_id: "gen_1" };
    expect(joined(body, { earlier: ['{"a":1}'] }).input).toEqual([{ a: 1 }, user('Say "hé"')]);
    expect(
      stateOf(body)
        .listAdded(new Map())
        .map(({ item, index }) => [JSON.parse(item), index]),
    ).toEqual([[user('Say "hé"'), -1]]);
  });

  test("refers to items, which stand in their place if they are known", () => {
    const body = {
      input: [{ type: "item_reference", id: "msg_1" }, user("Two"), { type: "item_reference", id: "msg_2" }],
    };
    const known = new Map([["msg_1", JSON.stringify(user("One"))]]);
    expect(joined(body, { replaced: known }).input).toEqual([user("One"), user("Two"), body.input[2]]);
    expect(
      stateOf(body)
        .listAdded(known)
        .map(({ item, index }) => [JSON.parse(item), index]),
    ).toEqual([
      [user("One"), -3],
      [user("Two"), -2],
    ]);
  });

  test("in the background is sent as a stream", () => {
    expect(joined({ input: "Hi", background: true })).toMatchObject({ stream: true });
    expect(joined({ input: "Hi", background: true, stream: false })).toMatchObject({ stream: true });
  });
});

describe("a request for a compaction", () => {
  const body = {
    input: [user("Hi"), { type: "compaction_trigger" }],
    tools: [{ type: "function", name: "f", parameters: {} }],
    tool_choice: "required",
    text: { format: { type: "json_object" } },
  };

  test("asks a model that has none for a handover in plain text, and for no calls", () => {
    const asked = joined(body, { compacts: true });
    expect(asked.input).toEqual([user("Hi"), JSON.parse(COMPACTION_PROMPT)]);
    expect(asked).toMatchObject({ tool_choice: "none", tools: body.tools });
    expect(asked).not.toHaveProperty("text");
  });

  test("stays as it is for models that compact", () => {
    expect(joined(body).input).toEqual(body.input);
  });

  test("adds no item to its chain for the trigger itself", () => {
    expect(stateOf(body).listAdded(new Map())).toHaveLength(1);
  });

  test.each([
    [{ input: [user("Hi")] }, [user("Hi"), { type: "compaction_trigger" }]],
    [{ input: "Hi" }, [user("Hi"), { type: "compaction_trigger" }]],
    [{ input: [] }, [{ type: "compaction_trigger" }]],
    [{ previous_response_id: "gen_1" }, [{ type: "compaction_trigger" }]],
  ])("of the endpoint with %j has the input %j", (sent, input) => {
    const request = JSON.parse(
      askForCompaction(Buffer.from(JSON.stringify({ model: "a/b", ...sent }))).toString(),
    );
    expect(request).toMatchObject({ model: "a/b", input, stream: false, store: false });
  });

  test("of the endpoint with a body that is no JSON is rejected", () => {
    expect(() => askForCompaction(Buffer.from("{"))).toThrow("not valid JSON");
  });
});

describe("the id of an item", () => {
  test("that the gateway has given is taken away before a vendor gets the item", () => {
    const item = withId('{"type":"message"}', "msg_01jd0000000000000000000000");
    expect(JSON.parse(item)).toEqual({ id: "msg_01jd0000000000000000000000", type: "message" });
    expect(withoutOwnId(item)).toBe('{"type":"message"}');
  });

  test("that a vendor has given stays", () => {
    for (const item of ['{"id":"msg_0f7983f1618f89d2","type":"message"}', '{"type":"message","id":"x"}'])
      expect(withoutOwnId(item)).toBe(item);
  });
});
