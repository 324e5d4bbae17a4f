import { describe, expect, test } from "bun:test";
import {
  readEndedItem,
  readWhole,
  StateStream,
} from "../../../../src/wire/openai-responses/state/answer-state.ts";
import { CompactionAnswer } from "../../../../src/wire/openai-responses/state/compaction.ts";
import { encodeEvent } from "../../../../src/wire/openai-responses/stream-events.ts";

const STATE = { store: true, background: false, previous_response_id: "gen_0", conversation: null };
const response = (fields: object) => ({
  id: "gen_1",
  store: false,
  previous_response_id: null,
  output: [],
  ...fields,
});
const message = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text: "Hé" }],
};

const EVENTS = [
  encodeEvent({
    type: "response.created",
    sequence_number: 0,
    response: response({ status: "in_progress" }),
  }),
  ": keep-alive\n\n",
  encodeEvent({ type: "response.output_text.delta", sequence_number: 1, delta: "Hé" }),
  encodeEvent({ type: "response.output_item.done", sequence_number: 2, item: message }),
  encodeEvent({
    type: "response.completed",
    sequence_number: 3,
    response: response({ status: "completed", output: [message], usage: { cost: 0.1 } }),
  }),
];

/** Reads a stream in pieces of a size. */
function readAll(stream: StateStream, size: number) {
  const text = EVENTS.join("");
  let out = "";
  for (let at = 0; at < text.length; at += size) {
    const piece = stream.read(text.slice(at, at + size));
    out += piece.out;
    if (piece.last !== null) return { out, last: piece.last };
  }
  throw new Error("the stream has no end");
}

const latin1 = (body: object) => Buffer.from(JSON.stringify(body)).toString("latin1");
const utf8 = (latin1: string) => Buffer.from(latin1, "latin1").toString("utf8");
const dataOf = (event: string) => JSON.parse(utf8(event.slice(event.indexOf("data: ") + 6)));

describe("the stream of a response with state", () => {
  test.each([1, 2, 3, 7, 64, 100_000])(
    "says so in each event with the response, and copies all others, in pieces of %i bytes",
    (size) => {
      const { out, last } = readAll(new StateStream(STATE), size);
      const [created, ...others] = out.split(/(?<=\n\n)/);
      expect(dataOf(created ?? "").response).toMatchObject({
        store: true,
        previous_response_id: "gen_0",
        conversation: null,
      });
      expect(others).toEqual(EVENTS.slice(1, 4));
      expect(last.ended.status).toBe("completed");
      expect(last.ended.output.map((item) => JSON.parse(item))).toEqual([message]);
      expect(JSON.parse(last.ended.response)).toMatchObject({ store: true, usage: { cost: 0.1 } });
      expect(JSON.parse(last.ended.response)).not.toHaveProperty("output");
    },
  );

  test("has a last event that says whether the response was stored in the end", () => {
    const { last } = readAll(new StateStream(STATE), 50);
    expect(dataOf(last.encode({ ...STATE, store: false })).response).toMatchObject({
      store: false,
      output: [message],
    });
  });

  test("has the items that ended in it", () => {
    expect(EVENTS.map((event) => readEndedItem(event)).filter((item) => item !== null)).toEqual([
      JSON.stringify(message),
    ]);
  });

  test("tells how the response began", () => {
    const stream = new StateStream(STATE);
    expect(stream.readBegun()).toBeNull();
    stream.read(EVENTS[0] as string);
    expect(JSON.parse(stream.readBegun() ?? "")).toMatchObject({ id: "gen_1", status: "in_progress" });
  });
});

describe("a whole response with state", () => {
  test("says so, and is split into its items and the rest", () => {
    const text = latin1(response({ status: "completed", output: [message] }));
    const { ended, encode } = readWhole(text, STATE);
    expect(ended.output.map((item) => JSON.parse(item))).toEqual([message]);
    expect(JSON.parse(utf8(encode({ ...STATE, store: false })))).toMatchObject({
      store: false,
      previous_response_id: "gen_0",
      output: [message],
    });
  });
});

describe("an answer that becomes a compaction", () => {
  const seal = (handover: string) =>
    JSON.stringify({ type: "compaction", id: "cmp_1", encrypted_content: handover });
  const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "Hé" };

  test("has one item, whose events are complete and numbered, in place of those of the handover", () => {
    const { out, last } = readAll(new StateStream(STATE, new CompactionAnswer(seal)), 40);
    const events = (out + last.encode(STATE)).split(/(?<=\n\n)/).filter((event) => event.startsWith("event"));
    expect(events.map(dataOf)).toMatchObject([
      { type: "response.created", sequence_number: 0 },
      { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: compaction },
      { type: "response.output_item.done", sequence_number: 2, output_index: 0, item: compaction },
      {
        type: "response.completed",
        sequence_number: 3,
        response: { output: [compaction], usage: { cost: 0.1 } },
      },
    ]);
    expect(out).toContain(": keep-alive");
  });

  test("fails if the model wrote no handover", () => {
    const whole = (output: object[], status = "completed") =>
      new CompactionAnswer(seal).shapeWhole(readWhole(latin1(response({ status, output })), STATE));
    expect(whole([])).toBeNull();
    expect(whole([{ type: "function_call", name: "f", arguments: "{}" }])).toBeNull();
    expect(whole([message], "incomplete")).toBeNull();
    expect(whole([message])?.ended.output).toEqual([seal("Hé")]);
  });
});
