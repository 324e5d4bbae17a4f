import { describe, expect, test } from "bun:test";
import { asFields, type Fields, omit } from "../../../src/base/json/fields.ts";
import { collectAnswer, replayAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { Answer } from "../../../src/wire/canonical/model/answer.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/translate/codec.ts";
import { hasRecordings } from "../../support/vendors/recordings.ts";
import {
  collect,
  decodeWhole,
  END,
  findOrderError,
  IDENTITY,
  lastResponse,
  makeAsked,
  parseLatin1,
  readPieces,
  readRecordedAnswers,
  readRecordedStreams,
  writeEvents,
} from "./support.ts";

const answers = readRecordedAnswers();
const streams = readRecordedStreams();
const whole = streams.filter(({ events }) => events.at(-1)?.["type"] === "response.completed");

/** Recordings with new ids in every event. */
const ROTATING = "github-copilot-id-rotation";

/** A recording whose last event has another text than was streamed. */
const EDITED = "openai-shell-container.1";

/** Recorded fields that the gateway writes itself. */
const OWN = new Set([
  "id",
  "model",
  "created_at",
  "completed_at",
  "store",
  "usage",
  "previous_response_id",
  "input",
  "tools",
  "tool_choice",
]);

function ownUsage(usage: unknown): Fields {
  return omit(asFields(usage) ?? {}, new Set(["cost", "cost_details", "is_byok"]));
}

/** Returns the end of an answer with its own usage. */
function endOf(answer: Answer) {
  const usage = answer.usage ?? END.report.usage;
  return { ...END, report: { ...END.report, usage } };
}

describe("recorded Responses answers", () => {
  test.if(hasRecordings)("the recordings are not empty", () => {
    expect(answers.length).toBeGreaterThan(25);
    expect(whole.length).toBeGreaterThan(35);
  });

  test.each(answers)("$name is encoded as it was decoded", ({ body }) => {
    const answer = decodeWhole(body);
    const encoded = openaiResponses.encodeAnswer(answer, {
      identity: IDENTITY,
      end: endOf(answer),
      asked: makeAsked(),
    });
    const fields = Object.keys(body).filter((key) => !OWN.has(key));
    expect(Object.fromEntries(fields.map((key) => [key, encoded[key]]))).toEqual(omit(body, OWN));
    expect(encoded).toMatchObject({
      id: "gen_test",
      model: "acme/model",
      created_at: 1_700_000_000,
      store: false,
    });
    if (answer.usage !== null) expect(ownUsage(encoded["usage"])).toMatchObject(ownUsage(body["usage"]));
  });

  test.each(whole)(
    "$name decoded event by event is the response of its last event",
    ({ name, events, wire }) => {
      const read = withoutEncrypted(collect(wire));
      const expected = withoutEncrypted(decodeWhole(settle(lastResponse(events))));
      if (name.includes(ROTATING)) {
        expect(textsOf(read)).toEqual(textsOf(expected));
        expect(read.usage).toEqual(expected.usage);
      } else if (name.includes(EDITED)) expect(read.choices.length).toBe(expected.choices.length);
      else expect(read).toEqual(expected);
    },
  );

  test.each(streams.filter(({ wire }) => wire.length < 20_000))(
    "$name is decoded alike when cut at every byte",
    ({ wire }) => {
      const expected = readPieces([wire]);
      expect(readPieces(wire)).toEqual(expected);
      for (let cut = 1; cut < wire.length; cut += 97) {
        expect(readPieces([wire.slice(0, cut), wire.slice(cut)])).toEqual(expected);
      }
    },
  );

  test.each(whole)("$name encoded again keeps order and meaning", ({ wire }) => {
    const read = collect(wire);
    const events = readPieces([wire]);
    const written = writeEvents(events, makeAsked(), endOf(read));
    expect(findOrderError(parseLatin1(written))).toEqual([]);
    const again = collect(written);
    expect(again.choices).toEqual(read.choices);
    // The cost is the gateway's.
    if (read.usage !== null)
      expect({ ...again.usage, reportedCost: undefined }).toEqual({ ...read.usage, reportedCost: undefined });
    expect(again.serviceTier).toEqual(read.serviceTier ?? "default");
  });

  test.each(whole)("$name has the same output whole and streamed", ({ wire }) => {
    const read = collect(wire);
    const encoded = openaiResponses.encodeAnswer(read, {
      identity: IDENTITY,
      end: endOf(read),
      asked: makeAsked(),
    });
    const streamed = lastResponse(parseLatin1(writeEvents(readPieces([wire]), makeAsked(), endOf(read))));
    expect(streamed).toEqual(encoded);
  });

  const failed = streams.filter(({ name }) => /openai-error|failed/.test(name));

  test.each(failed)("$name, which failed, is one error", ({ wire }) => {
    const events = readPieces([wire]);
    expect(events.map(({ kind }) => kind)).toEqual(["error"]);
    expect(events[0]).toMatchObject({ error: { meaning: "out_of_credit" } });
  });
});

/** Recordings whose last event has incomplete calls. */
function settle(response: Fields): Fields {
  return JSON.parse(JSON.stringify(response).replaceAll('"status":"in_progress"', '"status":"completed"'));
}

/** Removes encrypted contents, because OpenAI encrypts them anew for each event. */
function withoutEncrypted(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer).replace(/"gAAAA[^"]+"/g, '"…"'));
}

function textsOf(answer: Answer) {
  return answer.choices.map(({ parts, finish }) => [
    finish,
    parts.map((part) => ("text" in part ? part.text : part)),
  ]);
}

describe("an answer that is replayed for a Responses client", () => {
  test("its output is the same whole and streamed", () => {
    const body = {
      object: "response",
      status: "completed",
      output: [
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          content: [{ type: "output_text", text: "ß", annotations: [], logprobs: [] }],
        },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: "f",
          arguments: "{}",
          namespace: "crm",
        },
      ],
      usage: null,
    };
    const answer = decodeWhole(body);
    expect(collectAnswer(readPieces([writeEvents(replayAnswer(answer))])).choices).toEqual(answer.choices);
    expect(answer.choices[0]?.finish).toEqual({
      reason: "tool-calls",
      native: "completed",
      stopSequence: null,
    });
  });
});

describe("an event without a type in a Responses stream", () => {
  const answer = [
    { type: "response.output_item.added", output_index: 0, item: { type: "message", content: [] } },
    { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hi" },
    { type: "response.completed", response: { status: "completed" } },
  ];
  const read = (...events: readonly Fields[]) =>
    readPieces([...events, ...answer].map((event) => `data: ${JSON.stringify(event)}\n\n`));

  test.each<[string, Fields]>([
    ["no field", {}],
    ["unknown fields", { heartbeat: 1 }],
    ["an error of null", { error: null }],
    ["an error, and is of a type that is not read", { type: "response.queued", error: { code: "a" } }],
  ])("is ignored if it has %s", (_fields, event) => {
    expect(read(event)).toEqual(read());
    expect(textsOf(collectAnswer(read(event)))).toEqual([
      [{ reason: "stop", native: "completed", stopSequence: null }, ["Hi"]],
    ]);
  });

  test("ends the answer if it has an error", () => {
    const events = read({ error: { message: "Slow down.", code: "rate_limit_exceeded" } });
    expect(events).toMatchObject([
      { kind: "error", error: { message: "Slow down.", meaning: "rate_limited" } },
    ]);
  });
});
