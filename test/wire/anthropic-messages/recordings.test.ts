import { describe, expect, test } from "bun:test";
import { type Fields, omit } from "../../../src/base/json/fields.ts";
import { relayMessagesAnswer } from "../../../src/wire/anthropic-messages/passthrough/relay-response.ts";
import { MessagesRelay } from "../../../src/wire/anthropic-messages/passthrough/relay-stream.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import { collectAnswer, replayAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import { RelayReader } from "../../../src/wire/canonical/answer/relay-reader.ts";
import type { Answer, AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import { cutStep } from "../../support/long-run.ts";
import { endWith } from "../../support/vendors/answer-end.ts";
import { readAnswers } from "../../support/vendors/recordings.ts";
import { ASKED, collectBlocks, IDENTITY, parseStream, readAll, STREAMS } from "./support.ts";

const answers = readAnswers("anthropic").map(({ name, text }) => ({
  name,
  body: JSON.parse(text) as Fields,
}));
const whole = STREAMS.filter(({ name }) => !name.includes("spliced"));

function decode(body: Fields): Answer {
  const decoded = anthropicMessages.decodeAnswer(body);
  if (decoded.kind === "error") throw new Error(decoded.error.message);
  return decoded.answer;
}

function write(events: Iterable<AnswerEvent>, answer: Answer): string {
  const writer = anthropicMessages.createWriter(IDENTITY, ASKED);
  let out = "";
  for (const event of events) out += writer.step(event);
  return out + writer.end(endWith(answer.usage, { provider: "test" }));
}

/** Returns an answer without what may differ: the gateway's price, whitespace in arguments, and empty lists. */
function meaningOf({ choices, usage, serviceTier }: Answer) {
  const parts = choices[0]?.parts.map((part) => {
    if (part.kind === "tool-call") return { ...part, arguments: JSON.parse(part.arguments) as unknown };
    return part.kind === "text"
      ? { ...part, extras: omit(part.extras?.fields ?? {}, new Set(["citations"])) }
      : part;
  });
  return { choices: [{ ...choices[0], parts }], usage: countsOf(usage), serviceTier };
}

/** Returns usage without the cost, which only the gateway's own answers have. */
function countsOf(usage: Answer["usage"]): Answer["usage"] {
  if (usage === null) return null;
  const { reportedCost: _, ...counts } = usage;
  return counts;
}

describe("recorded Messages answers", () => {
  test.each(answers)("$name is encoded as it was decoded, with a price", ({ body }) => {
    const answer = decode(body);
    const identity = { ...IDENTITY, id: String(body["id"]), model: String(body["model"]) };
    const { gateway_metadata, ...encoded } = anthropicMessages.encodeAnswer(answer, {
      identity,
      end: endWith(answer.usage, { a: 1 }),
      asked: ASKED,
    });
    const { cost, cost_details, is_byok, ...usage } = encoded["usage"] as Record<string, unknown>;
    expect([gateway_metadata, cost, cost_details, is_byok]).toEqual([
      { a: 1 },
      0.25,
      {
        upstream_inference_cost: 0.5,
        upstream_inference_prompt_cost: 0.2,
        upstream_inference_completions_cost: 0.3,
      },
      false,
    ]);
    expect(usage).toMatchObject(body["usage"] as object);
    const expected: Fields = { stop_sequence: null, ...body, usage };
    expect(encoded as Fields).toEqual({ ...expected, usage: encoded["usage"] });
  });

  test.each(answers)("$name is the same answer when it is streamed", ({ body }) => {
    const answer = decode(body);
    const out = write(replayAnswer(answer), answer);
    expect(collectBlocks(out)).toEqual(body["content"] as Record<string, unknown>[]);
    const again = collectAnswer(readAll(anthropicMessages.createReader(), [out]));
    expect(meaningOf(again)).toEqual(meaningOf(answer));
  });

  test.each(answers)("$name is relayed with the gateway's id, model and price", ({ body }) => {
    const read = relayMessagesAnswer(JSON.stringify(body), IDENTITY);
    if (read.kind === "error") throw new Error(read.error.message);
    const { usage, ...out } = JSON.parse(read.encode(endWith(read.usage))) as Fields & { usage: Fields };
    expect(out).toEqual({
      stop_sequence: null,
      ...body,
      usage: undefined,
      id: "gen_test",
      model: "anthropic/test",
    });
    expect(usage).toMatchObject({ ...(body["usage"] as object), cost: 0.25 });
    expect(read.finish?.native).toBe(String(body["stop_reason"]));
  });
});

describe("recorded Messages streams", () => {
  test.each(whole)("$name is decoded as one complete answer", ({ text }) => {
    const events = readAll(anthropicMessages.createReader(), [text]);
    expect(events.filter((event) => event.kind === "error")).toEqual([]);
    const starts = events.filter((event) => event.kind === "part-start");
    expect(starts.map(({ at }) => at)).toEqual(starts.map((_, at) => at));
    expect(events.filter((event) => event.kind === "part-end")).toHaveLength(starts.length);
    expect(events.filter((event) => event.kind === "finish")).toHaveLength(1);
    expect(events.at(-1)?.kind).toBe("finish");
    const answer = collectAnswer(events);
    expect(answer.usage?.completionTokens).toBeGreaterThan(0);
    const body = anthropicMessages.encodeAnswer(answer, {
      identity: IDENTITY,
      end: endWith(answer.usage),
      asked: ASKED,
    });
    expect(meaningOf(decode(body))).toEqual(meaningOf(answer));
    for (const part of answer.choices[0]?.parts ?? []) {
      if (part.kind === "tool-call") expect(typeof JSON.parse(part.arguments)).toBe("object");
    }
  });

  test.each(whole)("$name is decoded alike after it was encoded again", ({ text }) => {
    const events = readAll(anthropicMessages.createReader(), [text]);
    const answer = collectAnswer(events);
    const out = write(events, answer);
    collectBlocks(out);
    const again = collectAnswer(readAll(anthropicMessages.createReader(), [out]));
    expect(meaningOf(again)).toEqual(meaningOf(answer));
    expect(parseStream(out).at(-2)?.data["gateway_metadata"]).toEqual({ provider: "test" });
  });

  test.each(whole)("$name is relayed byte for byte except for its first and last events", ({ text }) => {
    const relay = new MessagesRelay(IDENTITY, ASKED.estimatedPromptTokens);
    const body = relay.step(text) + relay.end();
    expect(relay.classifyEnd()).toBe("complete");
    const out = body + relay.encodeEnd(endWith(relay.usage, { provider: "test" }));
    const answer = collectAnswer(readAll(anthropicMessages.createReader(), [text]));
    const again = collectAnswer(readAll(anthropicMessages.createReader(), [out]));
    expect(meaningOf(again)).toEqual(meaningOf(answer));
    expect(countsOf(relay.usage)).toEqual(countsOf(answer.usage));
    const sent = new Set(text.split("\n\n"));
    const changed = out.split("\n\n").filter((block) => block !== "" && !sent.has(block));
    expect(changed.map((block) => block.split("\n")[0])).toEqual([
      "event: message_start",
      "event: message_delta",
    ]);
  });

  const small = whole.filter(({ text }) => text.length < 6_000);

  test.each(small)("$name is decoded to the same events wherever it is cut", ({ text }) => {
    const expected = collectAnswer(readAll(anthropicMessages.createReader(), [text]));
    const relayed = new MessagesRelay(IDENTITY, ASKED.estimatedPromptTokens).step(text);
    for (let cut = 1; cut < text.length; cut += cutStep(1)) {
      const pieces = [text.slice(0, cut), text.slice(cut)];
      expect(collectAnswer(readAll(anthropicMessages.createReader(), pieces))).toEqual(expected);
      const relay = new MessagesRelay(IDENTITY, ASKED.estimatedPromptTokens);
      const reader = new RelayReader(relay);
      const read = pieces.map((piece) => reader.read(Buffer.from(piece, "latin1")));
      expect(Buffer.concat([...read, reader.end()]).toString("latin1")).toBe(relayed);
    }
  });

  const spliced = STREAMS.filter(({ name }) => name.includes("spliced"));

  test.each(spliced)("$name, which restarts in the middle, is an error for reader and relay", ({ text }) => {
    const events = readAll(anthropicMessages.createReader(), [text]);
    expect(events.at(-1)).toMatchObject({ kind: "error", error: { meaning: "failed" } });
    const relay = new MessagesRelay(IDENTITY, ASKED.estimatedPromptTokens);
    const out = relay.step(text);
    expect(relay.classifyEnd()).toBe("failed");
    expect(parseStream(out).filter(({ name }) => name === "message_start")).toHaveLength(1);
  });
});
