import { describe, expect, test } from "bun:test";
import { asFields, asObjects, type Fields } from "../../../src/base/json/fields.ts";
import type { AnswerRelay, RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import { RelayReader } from "../../../src/wire/canonical/answer/relay-reader.ts";
import { relayResponsesAnswer } from "../../../src/wire/openai-responses/passthrough/relay-response.ts";
import { ResponsesRelay } from "../../../src/wire/openai-responses/passthrough/relay-stream.ts";
import {
  decodeWhole,
  END,
  findOrderError,
  IDENTITY,
  lastResponse,
  parseLatin1,
  readPieces,
  readRecordedAnswers,
  readRecordedStreams,
  toStream,
} from "./support.ts";

const identity: RelayIdentity = {
  ...IDENTITY,
  originalIds: null,
  makeCallId: () => "call_made",
  onTurn: () => {},
};

function relay(
  pieces: Iterable<string>,
  as = identity,
): { readonly out: string; readonly relay: AnswerRelay } {
  const made = new ResponsesRelay(as);
  const reader = new RelayReader(made);
  let out = "";
  for (const piece of pieces) out += reader.read(Buffer.from(piece, "latin1")).toString("latin1");
  return { out: out + reader.end().toString("latin1"), relay: made };
}

const streams = readRecordedStreams();
const whole = streams.filter(({ events }) => events.at(-1)?.["type"] === "response.completed");

/** The fields that published schemas require of each response, with the values of a request that does not set them. */
const REQUIRED: Fields = {
  completed_at: null,
  error: null,
  incomplete_details: null,
  instructions: null,
  previous_response_id: null,
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  reasoning: null,
  user: null,
  usage: null,
  max_output_tokens: null,
  max_tool_calls: null,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
};

/** Returns a vendor's response with the fields that the gateway writes itself, and those that the vendor left out or null. */
function responseForClient(response: Fields): Fields {
  const { id, model, created: created_at } = IDENTITY;
  const given = Object.entries(response).filter(([, value]) => value !== null);
  const own = { id, model, created_at, store: false };
  const tools = asObjects(response["tools"]).map((tool) =>
    tool["type"] === "function" ? { description: null, parameters: null, strict: null, ...tool } : tool,
  );
  const nulls = Object.keys(response).map((name) => [name, null]);
  return { ...Object.fromEntries(nulls), ...REQUIRED, ...Object.fromEntries(given), ...own, tools };
}

/** Returns the vendor's events as the client gets them. Items are numbered in the order in which they are added. */
function asGatewaySends(events: readonly Fields[]): readonly Fields[] {
  const added = events.filter(({ type }) => type === "response.output_item.added");
  const indexes = added.map((event) => event["output_index"]);
  return events.map((event) => {
    const response = asFields(event["response"]);
    const index = event["output_index"];
    return {
      ...(WITH_LOGPROBS.has(String(event["type"])) ? { logprobs: [] } : {}),
      ...event,
      ...(index === undefined ? {} : { output_index: indexes.indexOf(index) }),
      ...(response === null ? {} : { response: responseForClient(response) }),
    };
  });
}

/** Events in which OpenAI's libraries need `logprobs`, which other hosts leave out. */
const WITH_LOGPROBS = new Set(["response.output_text.delta", "response.output_text.done"]);

describe("relaying a text delta of a Responses stream", () => {
  const type = "response.output_text.delta";
  const event = (rest: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, logprobs: [], ...rest })}\n\n`;
  const tricky = 'say "delta":"no" and "sequence_number":7, \\ "type":"x"';
  /** The first event, from which the pattern is made. */
  const first = event({ sequence_number: 3, delta: "x" });

  test.each([
    ["in the vendor's order", { sequence_number: 4, output_index: 0, delta: tricky, logprobs: [] }],
    ["in another order", { delta: tricky, logprobs: [], sequence_number: 4 }],
  ])("the bytes of a delta are unchanged, with its fields %s", (_, rest) => {
    const { out, relay: made } = relay([event(rest)]);
    expect(out).toBe(event(rest));
    expect(made.producedBytes).toBe(JSON.stringify(tricky).length - 2);
    expect(made.sawToken).toBe(true);
  });

  test.each([
    ["the same form", event({ sequence_number: 4, output_index: 0, delta: tricky, logprobs: [] })],
    ["with the number last", event({ delta: tricky, sequence_number: 4 })],
    [
      "with spaces",
      `event: ${type}\ndata: {"type": "${type}", "delta": "b", "logprobs": [], "sequence_number": 4}\n\n`,
    ],
    ["with a delta that is none", event({ sequence_number: 4, delta: { text: "b" } })],
  ])("the bytes of a delta after another delta are unchanged: %s", (_, second) => {
    const third = event({ sequence_number: 5, delta: "y" });
    const whole = first + second + third;
    expect(relay([whole]).out).toBe(whole);
    for (let cut = 1; cut < whole.length; cut++)
      expect(relay([whole.slice(0, cut), whole.slice(cut)]).out).toBe(whole);
    const counted = relay([first + second]).relay.producedBytes - relay([first]).relay.producedBytes;
    expect(counted).toBe(relay([second]).relay.producedBytes);
  });

  test("a delta or a text without logprobs gets an empty list, also after others", () => {
    const bare = (number: number, rest: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...rest })}\n\n`;
    const given = [{ logprobs: [{ token: "d" }] }, {}, {}, { logprobs: [] }, {}];
    const events = given.map((more, at) => bare(at, { delta: tricky, ...more }));
    const expected = given.map((more, at) => ({
      type,
      sequence_number: at,
      delta: tricky,
      logprobs: "logprobs" in more ? more.logprobs : [],
    }));
    const whole = events.join("");
    for (let cut = 1; cut < whole.length; cut += 7)
      expect(parseLatin1(relay([whole.slice(0, cut), whole.slice(cut)]).out)).toEqual(expected);
    const done = { type: "response.output_text.done", sequence_number: 9, text: "d" };
    const { out } = relay([`event: ${done.type}\ndata: ${JSON.stringify(done)}\n\n`]);
    expect(parseLatin1(out)).toEqual([{ ...done, logprobs: [] }]);
  });

  test("a delta without a sequence number gets the next one", () => {
    const { out } = relay([event({ sequence_number: 4, delta: "a" }), event({ delta: "b" })]);
    expect(parseLatin1(out).map((sent) => sent["sequence_number"])).toEqual([4, 5]);
  });

  test("an empty delta does not count as a token", () => {
    expect(relay([event({ sequence_number: 1, delta: "" })]).relay.sawToken).toBe(false);
  });

  test("an incomplete delta ends the stream with an error", () => {
    const broken = `event: ${type}\ndata: {"type":"${type}","sequence_number":1,"delta":"a\n\n`;
    for (const pieces of [[broken], [first, broken], [first + broken + first]])
      expect(relay(pieces).relay.error).not.toBeNull();
  });
});

describe("relaying a recorded Responses stream", () => {
  test.each(whole)("$name changes only in id, model and price", ({ events, wire }) => {
    const { out, relay: made } = relay([wire]);
    const sent = parseLatin1(out + made.encodeEnd(END));
    expect(made.classifyEnd()).toBe("complete");
    const types = events.map(({ item }) => asFields(item)?.["type"]);
    const hasCalls = types.includes("function_call") || types.includes("custom_tool_call");
    expect(made.finish()).toEqual({ client: hasCalls ? "tool_calls" : "stop", native: "completed" });
    const last = sent.length - 1;
    const changed = asGatewaySends(events);
    for (const [at, { sequence_number, ...event }] of sent.slice(0, last).entries())
      expect({ sequence_number, ...event }).toEqual({ sequence_number, ...changed[at] });
    const expected = lastResponse(events);
    expect(lastResponse(sent)["output"]).toEqual(expected["output"]);
    expect(lastResponse(sent)["usage"]).toMatchObject({ cost: 0.25, input_tokens: 10 });
    expect(made.usage).toEqual(decodeWhole(expected).usage);
    const numbers = sent.map((event) => event["sequence_number"] as number);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  test.each(streams.filter(({ wire }) => wire.length < 20_000))(
    "$name is relayed alike when cut at every byte",
    ({ wire }) => {
      const expected = relay([wire]);
      const { out, relay: made } = relay(wire);
      expect(out).toBe(expected.out);
      expect(made.encodeEnd(END)).toBe(expected.relay.encodeEnd(END));
      expect(made.producedBytes).toBe(expected.relay.producedBytes);
    },
  );

  // In one recording events are missing in the middle.
  const unbroken = whole.filter(({ name }) => !name.includes("openai-phase"));
  test.each(unbroken)("$name without its last event is not a success", ({ wire }) => {
    const { out, relay: made } = relay([wire.slice(0, wire.lastIndexOf("event: "))]);
    expect(made.classifyEnd()).toBe("unfinished");
    const sent = parseLatin1(
      out + made.encodeError({ message: "It broke.", code: 502, type: "upstream_error" }),
    );
    expect(findOrderError(sent)).toEqual([]);
    expect(sent.at(-1)).toMatchObject({
      type: "response.failed",
      response: { id: "gen_test", status: "failed", error: { code: "server_error", message: "It broke." } },
    });
  });

  const failed = streams.filter(({ name }) => /openai-error|failed/.test(name));

  test.each(failed)("$name, which failed, is an error", ({ wire }) => {
    const { out, relay: made } = relay([wire]);
    expect(made.error).toMatchObject({ meaning: "out_of_credit" });
    expect(made.classifyEnd()).toBe("failed");
    expect(parseLatin1(out).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"]);
  });

  test.each(readRecordedAnswers())("$name is relayed as a whole answer", ({ body }) => {
    const read = relayResponsesAnswer(JSON.stringify(body), identity);
    if (read.kind === "error") throw new Error(read.error.message);
    const sent = JSON.parse(read.encode({ ...END, metadata: { repairs: {} } })) as Fields;
    const expected: Fields = {
      ...responseForClient(body),
      // When the request came, because the end of this answer does not name a time.
      completed_at: body["completed_at"] ?? (body["status"] === "completed" ? IDENTITY.created : null),
      usage: null,
      gateway_metadata: { repairs: {} },
    };
    expect({ ...sent, usage: null } as Fields).toEqual(expected);
    expect(read.usage).toEqual(decodeWhole(body).usage);
  });
});

const CREATED = {
  type: "response.created",
  sequence_number: 0,
  response: { id: "r", status: "in_progress", output: [] },
};
const call = (call_id: string, rest: Fields = {}) => ({
  type: "function_call",
  id: "fc_1",
  name: "f",
  arguments: "{}",
  call_id,
  ...rest,
});
const added = (item: Fields, output_index = 0) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (item: Fields, output_index = 0) => ({ type: "response.output_item.done", output_index, item });
const delta = (text: string) => ({
  type: "response.output_text.delta",
  output_index: 0,
  content_index: 0,
  delta: text,
});
const completed = (output: unknown[], rest: Fields = {}) => ({
  type: "response.completed",
  response: { id: "r", status: "completed", output, usage: null, ...rest },
});

function relayEvents(events: readonly Fields[], as = identity) {
  return relay([toStream("made", events).wire], as);
}

describe("relaying a Responses stream", () => {
  test("calls have the client's ids in all events", () => {
    const originalIds = new Map([["short", "the client's very own id ß"]]);
    const events = [CREATED, added(call("short")), done(call("short")), completed([call("short")])];
    const { out, relay: made } = relayEvents(events, { ...identity, originalIds });
    const sent = parseLatin1(out + made.encodeEnd(END));
    expect(sent[1]).toMatchObject({ item: { call_id: "the client's very own id ß" } });
    expect(sent[2]).toMatchObject({ item: { call_id: "the client's very own id ß" } });
    expect(lastResponse(sent)["output"]).toEqual([call("the client's very own id ß")]);
  });

  test("a call without an id gets one id in all events", () => {
    let made = 0;
    const as = { ...identity, makeCallId: () => `made_${made++}` };
    const { call_id: _, ...nameless } = call("");
    const events = [
      CREATED,
      added(nameless),
      done(call("")),
      added(call(""), 1),
      completed([call(""), call("")]),
    ];
    const result = relayEvents(events, as);
    const sent = parseLatin1(result.out + result.relay.encodeEnd(END));
    expect(sent.slice(1, 4).map(({ item }) => asFields(item)?.["call_id"])).toEqual([
      "made_0",
      "made_0",
      "made_1",
    ]);
    expect(lastResponse(sent)["output"]).toMatchObject([{ call_id: "made_0" }, { call_id: "made_1" }]);
  });

  test("the bytes of an unusual delta are unchanged", () => {
    const data =
      '{"type" : "response.output_text.delta","sequence_number":7,"delta":"a\\u00df \\"type\\":1","logprobs":[],"x":[1,  2]}';
    expect(relay([`event: response.output_text.delta\r\ndata: ${data}\r\n\r\n`]).out).toBe(
      `event: response.output_text.delta\ndata: ${data}\n\n`,
    );
  });

  test("the last event waits for its price and contains the whole output", () => {
    const message = { type: "message", id: "m", role: "assistant", content: [] };
    const events = [
      CREATED,
      added(message),
      delta("hi"),
      done(message),
      completed([], { service_tier: "flex" }),
    ];
    const { out, relay: made } = relayEvents(events);
    expect(out).not.toContain("response.completed");
    const sent = parseLatin1(out + made.encodeEnd({ ...END, metadata: { repairs: 1 } }));
    expect(lastResponse(sent)).toMatchObject({
      output: [message],
      service_tier: "flex",
      gateway_metadata: { repairs: 1 },
      usage: { input_tokens: 10, cost: 0.25 },
    });
    expect(made.producedBytes).toBe(2);
  });

  const endings: readonly (readonly [string, readonly Fields[], string])[] = [
    ["with text and an end", [CREATED, delta("x"), completed([])], "complete"],
    ["with a call and an end", [CREATED, added(call("c")), completed([call("c")])], "complete"],
    ["with only its end, whole", [completed([call("c")])], "complete"],
    ["with nothing and an end", [CREATED, completed([])], "empty"],
    ["with nothing", [CREATED], "unfinished"],
    ["with text and no end", [CREATED, delta("x")], "unfinished"],
    ["with an error", [CREATED, delta("x"), { type: "error", code: "server_error", message: "m" }], "failed"],
    ["with a failure", [CREATED, { type: "response.failed", response: { error: null } }], "failed"],
  ];
  test.each(endings)("the end of a stream is classified: a stream %s", (_, events, ending) => {
    expect(relayEvents(events).relay.classifyEnd()).toBe(ending as "complete");
  });

  test("a failed stream contains the items so far, complete or not", () => {
    const text = (type: string, place: object, delta: string) => ({ type, ...place, delta });
    const inSummary = { output_index: 0, summary_index: 0 };
    const inMessage = { output_index: 1, content_index: 0 };
    const inCall = { output_index: 2 };
    const summaryDone = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] };
    const message = { id: "msg_1", type: "message", status: "in_progress", role: "assistant", content: [] };
    const events = [
      CREATED,
      added({ id: "rs_1", type: "reasoning", summary: [] }),
      text("response.reasoning_summary_text.delta", inSummary, "Hm."),
      { type: "response.output_item.done", output_index: 0, item: summaryDone },
      { ...added(message), output_index: 1 },
      ...Array.from({ length: 200 }, (_, i) =>
        text("response.output_text.delta", inMessage, `${i} "ß"\n\ud83d\ude00 `),
      ),
      text("response.output_text.delta", { ...inMessage, content_index: 1 }, "and more"),
      { ...added({ ...call("c"), arguments: "", status: "in_progress" }), output_index: 2 },
      text("response.function_call_arguments.delta", inCall, '{"at":'),
      text("response.function_call_arguments.delta", inCall, '"se'),
      { type: "error", code: "server_error", message: "m" },
    ];
    const { out, relay: made } = relayEvents(events);
    const end = made.encodeError({ message: "It broke.", code: 502, type: "upstream_error" });
    const long = Array.from({ length: 200 }, (_, i) => `${i} "ß"\n\ud83d\ude00 `).join("");
    const outputText = (words: string) => ({
      type: "output_text",
      text: words,
      annotations: [],
      logprobs: [],
    });
    expect(lastResponse(parseLatin1(out + end))["output"]).toEqual([
      summaryDone,
      { ...message, status: "incomplete", content: [outputText(long), outputText("and more")] },
      { ...call("c"), arguments: '{"at":"se', status: "incomplete" },
    ]);
  });

  test("an incomplete answer has its reason", () => {
    const response = {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [],
    };
    const { relay: made } = relayEvents([CREATED, { type: "response.incomplete", response }]);
    expect(made.classifyEnd()).toBe("complete");
    expect(made.finish()).toEqual({ client: "length", native: "max_output_tokens" });
  });

  test("an error is recognized by its event's name", () => {
    const wire = 'event: error\ndata: {"code":"rate_limit_exceeded","message":"slow"}\n\n';
    expect(relay([wire]).relay.error).toMatchObject({ meaning: "rate_limited", message: "slow" });
    expect(readPieces([wire])).toMatchObject([{ kind: "error", error: { meaning: "rate_limited" } }]);
  });

  test.each([
    "data: not json\n\n",
    "data: [1\n\n",
    'data: {"type":"response.created","response":{"a":}}\n\n',
  ])("the bytes %j are a stream error and do not throw", (wire) => {
    const { out, relay: made } = relay([wire]);
    expect(out).toBe("");
    expect(made.classifyEnd()).toBe("failed");
  });
});

test.each(["", "[]", "{}", '{"status":"in_progress","output":[]}'])(
  "the body %j is an error for a Responses client",
  (text) => {
    expect(relayResponsesAnswer(text, identity).kind).toBe("error");
  },
);

test.each([
  ["no output", []],
  ["a message without text", [{ type: "message", content: [{ type: "output_text", text: "" }] }]],
  ["encrypted reasoning alone", [{ type: "reasoning", summary: [], encrypted_content: "x" }]],
])("a completed response with %s is an empty answer", (_, output) => {
  const answer = relayResponsesAnswer(JSON.stringify({ status: "completed", output }), identity);
  expect(answer).toMatchObject({ kind: "answer", isEmpty: true });
});
