import { describe, expect, test } from "bun:test";
import { BOUNDS } from "../../../../src/base/numbers/bounds.ts";
import { collectAnswer } from "../../../../src/wire/canonical/answer/collect-answer.ts";
import type { AnswerEvent } from "../../../../src/wire/canonical/model/answer.ts";
import { openaiChat } from "../../../../src/wire/openai-chat/translate/codec.ts";
import { ASKED, collectMessages, END, IDENTITY, readEvents, translate } from "./support.ts";

function sse(...events: unknown[]): string {
  return events
    .map(
      (event) =>
        `data: ${typeof event === "string" ? event : Buffer.from(JSON.stringify(event)).toString("latin1")}\n\n`,
    )
    .join("");
}

const delta = (fields: unknown, rest: object = {}) => ({ choices: [{ index: 0, delta: fields, ...rest }] });
const finish = (reason: string) => delta({}, { finish_reason: reason });

function read(text: string): AnswerEvent[] {
  const reader = openaiChat.createReader();
  return [...reader.step(text), ...reader.end()];
}

/** Returns the parts of the first choice. */
function parts(text: string) {
  return collectAnswer(read(text)).choices[0]?.parts.map(({ extras: _, ...part }) => part);
}

const REASONING = {
  kind: "reasoning",
  isSummary: false,
  signature: null,
  encrypted: null,
  id: null,
  origin: null,
};
const CALL = { kind: "tool-call", tool: "function" };

describe("reading a chat vendor's stream", () => {
  test("reasoning, text and calls become parts in the order in which they start", () => {
    const stream = sse(
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "Let me " }),
      delta({ reasoning_content: "think." }),
      delta({ content: "It is " }),
      delta({ content: "sünny." }),
      delta({
        tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "f", arguments: "" } }],
      }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
      finish("tool_calls"),
      "[DONE]",
    );
    expect(parts(stream)).toEqual([
      { ...REASONING, text: "Let me think." },
      { kind: "text", text: "It is sünny." },
      { ...CALL, id: "c1", name: "f", arguments: '{"a":1}' },
    ] as never);
  });

  test("details give the text once, the signature, and encrypted parts", () => {
    const detail = (fields: object) => ({ format: "anthropic-claude-v1", index: 0, ...fields });
    const stream = sse(
      delta({ reasoning: "Hm", reasoning_details: [detail({ type: "reasoning.text", text: "Hm" })] }),
      delta({ reasoning: "!", reasoning_details: [detail({ type: "reasoning.text", text: "!" })] }),
      delta({ reasoning_details: [detail({ type: "reasoning.text", signature: "sig" })] }),
      delta({
        reasoning_details: [
          { type: "reasoning.encrypted", data: "xx", id: "rs", format: "openai-responses-v1", index: 1 },
        ],
      }),
      delta({ content: "ok" }),
      finish("stop"),
    );
    expect(parts(stream)).toEqual([
      { ...REASONING, text: "Hm!", signature: "sig", origin: "anthropic-claude-v1" },
      { ...REASONING, text: "", encrypted: "xx", id: "rs", origin: "openai-responses-v1" },
      { kind: "text", text: "ok" },
    ] as never);
  });

  test("a signature in the details belongs to reasoning that came as plain text", () => {
    const stream = sse(
      delta({ reasoning_content: "Hm" }),
      delta({
        reasoning_details: [{ type: "reasoning.text", signature: "sig", format: "anthropic-claude-v1" }],
      }),
      finish("stop"),
    );
    expect(parts(stream)).toEqual([{ ...REASONING, text: "Hm", signature: "sig" }] as never);
  });

  test.each([
    ["before the call", true],
    ["with the call", false],
  ])("a thought signature in a detail %s belongs to the call", (_, isBefore) => {
    const details = [
      { type: "reasoning.encrypted", data: "proof", id: "c1", format: "google-gemini-v1", index: 0 },
    ];
    const calls = [{ index: 0, id: "c1", function: { name: "f", arguments: "{}" } }];
    const stream = isBefore
      ? sse(delta({ reasoning_details: details }), delta({ tool_calls: calls }), finish("stop"))
      : sse(delta({ reasoning_details: details, tool_calls: calls }), finish("stop"));
    const signature = { value: "proof", origin: "google-gemini-v1" };
    expect(parts(stream)).toEqual([{ ...CALL, id: "c1", name: "f", arguments: "{}", signature }] as never);
  });

  test("Google's spelling of a thought signature is read, and a signature without a call is reasoning", () => {
    const extra_content = { google: { thought_signature: "proof" } };
    const stream = sse(
      delta({
        reasoning_details: [{ type: "reasoning.encrypted", data: "x", id: "r1", format: "google-gemini-v1" }],
      }),
      delta({ tool_calls: [{ id: "c1", function: { name: "f", arguments: "{}" }, extra_content }] }),
      finish("stop"),
    );
    expect(parts(stream)).toEqual([
      {
        ...CALL,
        id: "c1",
        name: "f",
        arguments: "{}",
        signature: { value: "proof", origin: "google-gemini-v1" },
      },
      { ...REASONING, text: "", encrypted: "x", id: "r1", origin: "google-gemini-v1" },
    ] as never);
  });

  test("calls may be interleaved, whole under one index, or repeated", () => {
    const piece = (index: number, text: string) => ({ index, function: { arguments: text } });
    const opening = (index: number, id: string, text = "") => ({
      index,
      id,
      function: { name: "f", arguments: text },
    });
    const inTurns = sse(
      delta({ tool_calls: [opening(0, "a"), opening(1, "b")] }),
      delta({ tool_calls: [piece(0, '{"x"'), piece(1, '{"y"')] }),
      delta({ tool_calls: [piece(1, ":2}"), piece(0, ":1}")] }),
      finish("stop"),
    );
    expect(collectMessages(translate([inTurns]).out)[0]?.calls.map((call) => call.arguments)).toEqual([
      '{"x":1}',
      '{"y":2}',
    ]);
    const oneIndex = sse(
      delta({ tool_calls: [opening(0, "a", '{"x":1}')] }),
      delta({ tool_calls: [opening(0, "b", '{"y":2}')] }),
      delta({ tool_calls: [opening(0, "b", '{"y":2}')] }),
      finish("stop"),
    );
    expect(collectMessages(translate([oneIndex]).out)[0]?.calls.map((call) => call.id)).toEqual(["a", "b"]);
  });

  test("a call of a custom tool is free text", () => {
    const stream = sse(
      delta({ tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sh", input: "ls" } }] }),
      delta({ tool_calls: [{ index: 0, custom: { input: " -l" } }] }),
      finish("tool_calls"),
    );
    expect(parts(stream)).toEqual([
      { kind: "tool-call", tool: "custom", id: "c", name: "sh", arguments: "ls -l" },
    ] as never);
    const { out } = translate([stream]);
    expect(collectMessages(out)[0]?.calls).toEqual([{ id: "c", name: "sh", arguments: "ls -l" }]);
    expect(out).toContain('"type":"custom"');
  });

  test("of unknown fields lists grow and other values are replaced, in the delta and next to it", () => {
    const stream = sse(
      delta({ content: "a", x_list: [1], x_word: "a" }, { y_list: [[1]], y_word: "a" }),
      delta({ content: "b", x_list: [2, 3], x_word: "b" }, { y_list: [[2]], y_word: null }),
      delta({ x_list: null }, { y_word: "c" }),
      finish("stop"),
    );
    const [last] = read(stream).slice(-1);
    expect(last).toMatchObject({
      kind: "finish",
      extras: {
        fields: { y_list: [[1], [2]], y_word: "c", message: { x_list: [1, 2, 3], x_word: "b" } },
      },
    });
  });

  test.each([
    [BOUNDS.choices, 0],
    [BOUNDS.choices + 1, 1],
  ])("a stream has a bound of choices: %d", (count, errors) => {
    const choices = Array.from({ length: count }, (_, index) => ({ index, delta: { content: "a" } }));
    const events = read(sse(...choices.map((choice) => ({ choices: [choice] }))));
    expect(events.filter(({ kind }) => kind === "error")).toHaveLength(errors);
    expect(events.filter(({ kind }) => kind === "part-start")).toHaveLength(BOUNDS.choices);
  });

  test("a malformed event, a failed finish and an error event are errors, and nothing follows them", () => {
    const bad = ["{not json", finish("error"), { error: { message: "out of order", code: 500 } }];
    for (const event of bad) {
      const events = read(sse(delta({ content: "a" }), event, delta({ content: "b" }), "[DONE]"));
      expect(events.at(-1)?.kind).toBe("error");
      expect(events.filter(({ kind }) => kind === "error")).toHaveLength(1);
    }
  });
});

describe("writing a chat client's stream", () => {
  const stream = sse(
    delta({ role: "assistant", content: "a" }),
    { ...delta({ content: "b" }), system_fingerprint: "fp" },
    { ...finish("stop"), service_tier: "default" },
    delta({ content: "c" }),
    finish("length"),
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
    "[DONE]",
    delta({ content: "d" }),
  );

  test("the role comes once, the finish after all text, and the usage in the final chunk", () => {
    const { out, relay } = translate([stream]);
    const whole = out + relay.encodeEnd(END);
    const events = readEvents(whole);
    expect(events.map((event) => event.choices[0]?.delta)).toEqual([
      { role: "assistant", content: "a" },
      { content: "b" },
      { content: "c" },
      {},
    ]);
    expect(events.map((event) => event.choices[0]?.finish_reason)).toEqual([null, null, null, "stop"]);
    expect(events.map((event) => "usage" in event)).toEqual([false, false, false, true]);
    expect(events[1]).toMatchObject({ system_fingerprint: "fp", id: "gen_test", model: "acme/model" });
    expect(relay.usage).toMatchObject({ promptTokens: 1, completionTokens: 2 });
    expect(whole.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("a client that asked for it gets a usage chunk, with gateway_metadata", () => {
    const { relay } = translate([stream], { ...ASKED, wantsUsageChunk: true });
    const events = readEvents(relay.encodeEnd({ ...END, metadata: { warnings: [] } }));
    expect(events.at(-1)).toMatchObject({
      choices: [],
      usage: { total_tokens: 5 },
      gateway_metadata: { warnings: [] },
    });
    expect("usage" in events[0]!).toBe(false);
  });

  test("an answer that broke off ends in an error event without [DONE]", () => {
    const { out, relay } = translate([sse(delta({ content: "a" }), { error: { message: "x" } })]);
    expect(relay.classifyEnd()).toBe("failed");
    const end = relay.encodeError({ message: "m", code: 502, type: "upstream_error" });
    expect(readEvents(out + end).at(-1) as unknown).toEqual({
      error: { message: "m", code: 502, type: "upstream_error", metadata: { code: "upstream_error" } },
    });
    expect(end).not.toContain("[DONE]");
  });

  test("reasoning is sent in three spellings, with its whole signature after it", () => {
    const detail = (fields: object) => ({
      type: "reasoning.text",
      format: "anthropic-claude-v1",
      index: 0,
      ...fields,
    });
    const { out } = translate([
      sse(
        delta({ reasoning_details: [detail({ text: "Hm" })] }),
        delta({ reasoning_details: [detail({ signature: "sig" })] }),
        delta({ content: "ok" }),
        finish("stop"),
      ),
    ]);
    const deltas = readEvents(out).map((event) => event.choices[0]?.delta);
    expect(deltas).toEqual([
      {
        role: "assistant",
        reasoning: "Hm",
        reasoning_content: "Hm",
        reasoning_details: [detail({ text: "Hm" })],
      },
      { reasoning_details: [detail({ text: "", signature: "sig" })] },
      { content: "ok" },
    ] as never);
  });

  test("reasoning is left out for a client that excludes it", () => {
    const hidden = {
      enabled: null,
      effort: null,
      budgetTokens: null,
      adaptive: false,
      summary: null,
      hidden: true,
    };
    const asked = { ...ASKED, request: { ...ASKED.request, reasoning: hidden } };
    const { out } = translate(
      [sse(delta({ reasoning: "secret" }), delta({ content: "ok" }), finish("stop"))],
      asked,
    );
    expect(out).not.toContain("secret");
    expect(collectMessages(out)[0]?.content).toBe("ok");
  });

  test("a call's thought signature is sent in both spellings", () => {
    const extra_content = { google: { thought_signature: "p" } };
    const { out } = translate([
      sse(
        delta({
          tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{}" }, extra_content }],
        }),
        finish("stop"),
      ),
    ]);
    const deltas = readEvents(out).map((event) => event.choices[0]?.delta);
    expect(deltas.flatMap((one) => one?.reasoning_details ?? [])).toEqual([
      { type: "reasoning.encrypted", data: "p", id: "c", format: "google-gemini-v1", index: 0 },
    ]);
    expect(deltas.flatMap((one) => one?.tool_calls ?? []).map((call) => call.extra_content)).toContainEqual(
      extra_content,
    );
  });

  test("several choices, refusals, log probabilities, citations, images and audio are sent", () => {
    const annotation = {
      type: "url_citation",
      url_citation: { url: "https://e.com", title: "E", start_index: 0, end_index: 1 },
    };
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const { out, relay } = translate([
      sse(
        {
          choices: [
            { index: 1, delta: { refusal: "No" } },
            { index: 0, delta: { content: "a" }, logprobs: { content: [{ token: "a" }] } },
          ],
        },
        delta({ annotations: [annotation], images: [image] }),
        delta({ audio: { id: "au", data: "AAAA", transcript: "hi" } }),
        {
          choices: [
            { index: 1, delta: { refusal: "." }, finish_reason: "stop" },
            { index: 0, delta: {}, finish_reason: "eos" },
          ],
        },
        "[DONE]",
      ),
    ]);
    const whole = out + relay.encodeEnd(END);
    const folded = collectMessages(whole);
    expect(folded[0]).toMatchObject({ content: "a", finishes: ["stop"] });
    expect(folded[1]).toMatchObject({ refusal: "No.", content: "", finishes: ["stop"] });
    const entries = readEvents(whole).flatMap((event) => event.choices);
    expect(entries.find((entry) => entry.delta.content === "a")?.logprobs).toEqual({
      content: [{ token: "a" }],
    });
    expect(entries.flatMap((entry) => entry.delta.annotations ?? [])).toEqual([annotation]);
    expect(entries.map((entry) => entry.delta)).toContainEqual({ images: [image] } as never);
    expect(entries.map((entry) => entry.delta)).toContainEqual({
      audio: { id: "au", data: "AAAA", transcript: "hi" },
    } as never);
    expect(entries.find((entry) => entry.native_finish_reason !== undefined)?.native_finish_reason).toBe(
      "eos",
    );
  });

  test("the output is the same for a stream cut at every byte", () => {
    const text = sse(
      delta({ reasoning_content: "dénké" }),
      delta({ content: "你好 😀" }),
      delta({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: '{"ü":1}' } }] }),
      finish("tool_calls"),
      "[DONE]",
    ).replaceAll("\n\n", "\r\n\r\n");
    const { out, relay } = translate([text]);
    expect(collectMessages(out + relay.encodeEnd(END))[0]).toEqual({
      content: "你好 😀",
      refusal: "",
      reasoning: "dénké",
      calls: [{ id: "c", name: "f", arguments: '{"ü":1}' }],
      finishes: ["tool_calls"],
    });
    for (let cut = 0; cut <= text.length; cut++) {
      expect(translate([text.slice(0, cut), text.slice(cut)]).out).toBe(out);
    }
  });

  test("calls get the client's ids or generated ones, and {} for missing arguments", () => {
    const identity = { ...IDENTITY, originalIds: new Map([["abcdefghi", "toolu_long"]]) };
    const text = sse(
      delta({ tool_calls: [{ index: 0, id: "abcdefghi", function: { name: "f" } }] }),
      delta({ tool_calls: [{ index: 1, function: { name: "g", arguments: '{"a":1}' } }] }),
      finish("stop"),
      "[DONE]",
    );
    const { out, relay } = translate([text], ASKED, identity);
    expect(collectMessages(out + relay.encodeEnd(END))[0]).toMatchObject({
      calls: [
        { id: "toolu_long", name: "f", arguments: "{}" },
        { id: "call_made", name: "g", arguments: '{"a":1}' },
      ],
      finishes: ["tool_calls"],
    });
    expect(relay.finish()).toEqual({ client: "tool_calls", native: "stop" });
  });
});
