import { describe, expect, test } from "bun:test";
import { MessagesRelay } from "../../../src/wire/anthropic-messages/passthrough/relay-stream.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import { endWith } from "../../support/vendors/answer-end.ts";
import { IDENTITY, parseStream, readAll, stream } from "./support.ts";

/** A turn that continues after a tool of the vendor's: `message_start` contains all of it. */
const WHOLE = stream(
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "tool_use", id: "toolu_1", name: "roll", input: { sides: 6 } }],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  },
  { type: "message_stop" },
);

describe("a Messages stream whose first event contains the whole answer", () => {
  test("a Messages client gets a complete answer with its own tool-call ids", () => {
    const relay = new MessagesRelay({ ...IDENTITY, originalIds: new Map([["toolu_1", "mine"]]) }, 7);
    const out = relay.step(WHOLE) + relay.end();
    expect([relay.classifyEnd(), relay.finish()?.native]).toEqual(["complete", "tool_use"]);
    const [start, delta, stop] = parseStream(out + relay.encodeEnd(endWith(relay.usage)));
    expect(start?.data).toMatchObject({
      message: { content: [{ id: "mine", name: "roll", input: { sides: 6 } }] },
    });
    expect(delta?.data).toMatchObject({ delta: { stop_reason: "tool_use" } });
    expect(stop?.name).toBe("message_stop");
  });

  test("the reader gets the stop reason", () => {
    const answer = collectAnswer(readAll(anthropicMessages.createReader(), [WHOLE]));
    expect(answer.choices[0]?.finish).toEqual({
      reason: "tool-calls",
      native: "tool_use",
      stopSequence: null,
    });
  });
});
