import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import type { Fields } from "../../../src/base/json/fields.ts";
import { replayAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { Answer, AnswerEvent, FinishReason } from "../../../src/wire/canonical/model/answer.ts";
import { type Part, REASONING_ORIGINS } from "../../../src/wire/canonical/model/parts.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/translate/codec.ts";
import {
  END,
  findOrderError,
  IDENTITY,
  lastResponse,
  makeAsked,
  parseLatin1,
  readPieces,
  readRecordedStreams,
  writeEvents,
} from "./support.ts";

const SIGNED_REASONING: Part = {
  kind: "reasoning",
  text: "thinking ✓",
  isSummary: false,
  signature: "sig",
  encrypted: null,
  id: null,
  origin: REASONING_ORIGINS.anthropic,
};
const REDACTED: Part = { ...SIGNED_REASONING, text: "", signature: null, encrypted: "xxx" };
const BARE: Part = { ...SIGNED_REASONING, signature: null, origin: null, text: "plain" };
const TEXT: Part = { kind: "text", text: "Hello ß" };
const SIGNATURE = { value: "signature", origin: REASONING_ORIGINS.gemini };
const CALL: Part = { kind: "tool-call", id: "call_1", name: "f", tool: "function", arguments: '{"a":1}' };
const CUSTOM: Part = { kind: "tool-call", id: "call_2", name: "p", tool: "custom", arguments: "free" };
const REFUSAL: Part = { kind: "refusal", text: "No." };
const CITED: Part = { ...TEXT, citations: [{ url: "https://a", title: null, text: "q", start: 0, end: 2 }] };

function makeAnswer(parts: readonly Part[], reason: FinishReason = "stop"): Answer {
  const finish = { reason, native: "x", stopSequence: null };
  return { choices: [{ index: 0, parts, finish, logprobs: null }], usage: null, serviceTier: null };
}

function encode(answer: Answer, asked = makeAsked()): Fields {
  return openaiResponses.encodeAnswer(answer, { identity: IDENTITY, end: END, asked });
}

/** Decodes the answer's items as a client sends them back. */
function sendBack(response: Fields) {
  return openaiResponses.decodeRequest({ model: "m", input: response["output"] }).messages;
}

/** Returns the parts without the extras of this format. */
function bare(parts: readonly Part[] | undefined): unknown {
  return parts?.map(({ extras: _, ...part }) => part);
}

describe("writing another vendor's answer for a Responses client", () => {
  test("all fields that SDKs read are sent", () => {
    const response = encode(
      makeAnswer([TEXT, CALL], "tool-calls"),
      makeAsked({ temperature: 0.5, maxTokens: 9 }),
    );
    expect(response).toEqual({
      id: "gen_test",
      object: "response",
      created_at: 1_700_000_000,
      completed_at: 1_700_000_000,
      status: "completed",
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: 9,
      max_tool_calls: null,
      model: "acme/model",
      output: [
        {
          id: "msg_gen_test_0",
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Hello ß", annotations: [], logprobs: [] }],
        },
        {
          id: "fc_gen_test_1",
          type: "function_call",
          status: "completed",
          call_id: "call_1",
          name: "f",
          arguments: '{"a":1}',
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: "default",
      store: false,
      temperature: 0.5,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      truncation: "disabled",
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 15,
        cost: 0.25,
        cost_details: {
          upstream_inference_cost: 0.5,
          upstream_inference_input_cost: 0.2,
          upstream_inference_output_cost: 0.3,
        },
        is_byok: false,
      },
      user: null,
      metadata: {},
    });
  });

  const kept: readonly (readonly [string, readonly Part[]])[] = [
    ["signed reasoning", [SIGNED_REASONING, TEXT]],
    ["redacted reasoning", [REDACTED, SIGNED_REASONING, CALL]],
    ["reasoning without a signature", [BARE, TEXT]],
    ["a call's signature", [TEXT, { ...CALL, signature: SIGNATURE }]],
    ["a text's signature", [{ ...TEXT, signature: SIGNATURE }, CALL]],
    [
      "adjacent signatures",
      [
        { ...CALL, signature: SIGNATURE },
        { ...CUSTOM, signature: { ...SIGNATURE, value: "2" } },
      ],
    ],
  ];
  test.each(kept)("the client sends back %s", (_, parts) => {
    const response = encode(makeAnswer(parts));
    const streamed = lastResponse(parseLatin1(writeEvents(replayAnswer(makeAnswer(parts)))));
    expect(streamed["output"]).toEqual(response["output"]);
    expect(sendBack(response)).toHaveLength(1);
    expect(bare(sendBack(response)[0]?.parts)).toEqual([...parts]);
  });

  test("the client sends back a late signature", () => {
    for (const part of [TEXT, CALL]) {
      const [start, ...rest] = [...replayAnswer(makeAnswer([part]))] as [AnswerEvent, ...AnswerEvent[]];
      const signature: AnswerEvent = {
        kind: "part-delta",
        choice: 0,
        at: 0,
        delta: { kind: "part-signature", ...SIGNATURE },
      };
      const wire = writeEvents([start, signature, ...rest]);
      expect(findOrderError(parseLatin1(wire))).toEqual([]);
      expect(bare(sendBack(lastResponse(parseLatin1(wire)))[0]?.parts)).toEqual([
        { ...part, signature: SIGNATURE },
      ]);
    }
  });

  test("reasoning is shown as a summary", () => {
    const events = parseLatin1(writeEvents(replayAnswer(makeAnswer([SIGNED_REASONING]))));
    const deltas = events.filter(({ type }) => type === "response.reasoning_summary_text.delta");
    expect(deltas).toMatchObject([{ delta: "thinking ✓", summary_index: 0, output_index: 0 }]);
  });

  const ends: readonly (readonly [FinishReason, readonly Part[], string, string | null])[] = [
    ["stop", [TEXT], "completed", null],
    ["stop-sequence", [TEXT], "completed", null],
    ["tool-calls", [CALL], "completed", null],
    ["pause", [TEXT], "completed", null],
    ["length", [TEXT], "incomplete", "max_output_tokens"],
    ["content-filter", [TEXT], "incomplete", "content_filter"],
    ["refusal", [TEXT], "incomplete", "content_filter"],
    ["refusal", [REFUSAL], "completed", null],
  ];
  test.each(ends)("an answer that finishes with %s and has %j is %s", (reason, parts, status, cause) => {
    const events = parseLatin1(writeEvents(replayAnswer(makeAnswer(parts, reason))));
    expect(events.at(-1)).toMatchObject({
      type: `response.${status}`,
      response: { status, incomplete_details: cause === null ? null : { reason: cause } },
    });
    expect(findOrderError(events)).toEqual([]);
  });

  test("a call gets its namespace and its own name back", () => {
    const search = { type: "function", name: "f", parameters: null };
    const group = (name: string) => ({ type: "namespace", name, tools: [search] });
    const ask = (tools: unknown[]) => ({
      ...makeAsked(),
      request: decode({ model: "m", input: "x", tools }),
    });
    const decode = openaiResponses.decodeRequest;
    const outputOf = (name: string, tools: unknown[]) =>
      encode(makeAnswer([{ ...CALL, name } as Part]), ask(tools))["output"] as Fields[];
    expect(outputOf("f", [group("crm")])).toMatchObject([{ name: "f", namespace: "crm" }]);
    expect(outputOf("erp__f", [group("crm"), group("erp")])).toMatchObject([{ name: "f", namespace: "erp" }]);
    expect(outputOf("f", [search])[0]).not.toHaveProperty("namespace");
  });

  test("metadata is in the last event", () => {
    const wire = writeEvents(replayAnswer(makeAnswer([TEXT])), makeAsked(), {
      ...END,
      metadata: { repairs: 1 },
    });
    expect(lastResponse(parseLatin1(wire))).toMatchObject({ gateway_metadata: { repairs: 1 } });
  });

  test("an answer that breaks off is a failed response with the output so far", () => {
    const codes = [
      ["insufficient_credits", "insufficient_quota"],
      ["rate_limit_exceeded", "rate_limit_exceeded"],
      ["context_length_exceeded", "context_length_exceeded"],
      ["invalid_request", "invalid_prompt"],
      ["upstream_error", "server_error"],
    ] as const;
    for (const [type, code] of codes) {
      const writer = openaiResponses.createWriter(IDENTITY, makeAsked());
      const [start, delta] = replayAnswer(makeAnswer([TEXT])) as Iterable<AnswerEvent>;
      const wire = [start, delta].map((event) => writer.step(event as AnswerEvent)).join("");
      const events = parseLatin1(wire + writer.fail({ message: "It broke.", code: 502, type }));
      expect(findOrderError(events)).toEqual([]);
      expect(events.at(-1)).toMatchObject({
        type: "response.failed",
        response: {
          status: "failed",
          error: { code, message: "It broke." },
          output: [{ status: "incomplete", content: [{ text: "Hello ß" }] }],
        },
      });
    }
  });
});

const PARTS = [
  SIGNED_REASONING,
  REDACTED,
  BARE,
  TEXT,
  CITED,
  CALL,
  CUSTOM,
  REFUSAL,
  { ...CALL, signature: SIGNATURE },
];

/** Answers whose parts may be open at the same time. */
const interleaved = fc.array(fc.constantFrom<Part>(...PARTS), { maxLength: 8 }).chain((parts) => {
  const perPart = parts.map((part, at) =>
    [...replayAnswer(makeAnswer([part]))]
      .filter((event) => event.kind.startsWith("part-"))
      .map((event) => ({ ...event, at }) as AnswerEvent),
  );
  return fc.array(fc.nat(), { minLength: 40, maxLength: 40 }).map((picks) => mix(perPart, picks));
});

/** Interleaves the events of parts, which start in order. */
function mix(perPart: readonly (readonly AnswerEvent[])[], picks: readonly number[]): AnswerEvent[] {
  const queues = perPart.map((events) => [...events]);
  const mixed: AnswerEvent[] = [];
  let started = 0;
  for (let turn = 0; queues.some((queue) => queue.length > 0); turn++) {
    const ready = queues.slice(0, started + 1).filter((queue) => queue.length > 0);
    const event = ready[(picks[turn % picks.length] as number) % ready.length]?.shift() as AnswerEvent;
    if (event.kind === "part-start") started++;
    mixed.push(event);
  }
  return mixed;
}

test("events are in the order that Responses clients rely on for any mix of parts", () => {
  fc.assert(
    fc.property(interleaved, (events) => {
      const written = parseLatin1(writeEvents(events));
      expect(findOrderError(written)).toEqual([]);
      const failing = openaiResponses.createWriter(IDENTITY, makeAsked());
      const half = events
        .slice(0, events.length / 2)
        .map((event) => failing.step(event))
        .join("");
      expect(
        findOrderError(parseLatin1(half + failing.fail({ message: "", code: 502, type: "internal" }))),
      ).toEqual([]);
    }),
  );
});

/** Parses a stream with the installed SDK. */
async function parseWithSdk(wire: string) {
  const body = Buffer.from(wire, "latin1");
  const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const client = new OpenAI({ apiKey: "k", baseURL: "http://127.0.0.1", fetch, maxRetries: 0 });
  const stream = client.responses.stream({ model: "m", input: "x" });
  let deltas = "";
  stream.on("response.output_text.delta", ({ delta }) => {
    deltas += delta;
  });
  return { response: await stream.finalResponse(), deltas };
}

describe("the OpenAI SDK", () => {
  test("the SDK reads an answer with all kinds of parts", async () => {
    const answer = makeAnswer([
      SIGNED_REASONING,
      REDACTED,
      CITED,
      REFUSAL,
      { ...CALL, signature: SIGNATURE },
      CUSTOM,
      TEXT,
    ]);
    const wire = writeEvents(replayAnswer(answer));
    const { response, deltas } = await parseWithSdk(wire);
    expect(deltas).toBe("Hello ßHello ß");
    expect(response.output_text).toBe("Hello ßHello ß");
    const expected = lastResponse(parseLatin1(wire))["output"];
    expect(response.output as unknown).toMatchObject(expected as unknown[]);
  });

  test("the SDK reads every recorded stream after it was encoded again", async () => {
    for (const { name, wire, events } of readRecordedStreams()) {
      if (events.at(-1)?.["type"] !== "response.completed") continue;
      const written = writeEvents(readPieces([wire]));
      const { response } = await parseWithSdk(written);
      expect([name, response.status]).toEqual([name, "completed"]);
      expect(response.output).toHaveLength(
        (lastResponse(parseLatin1(written))["output"] as unknown[]).length,
      );
    }
  });
});
