import { describe, expect, test } from "bun:test";
import { collectAnswer, replayAnswer } from "../../../../src/wire/canonical/answer/collect-answer.ts";
import { createWholeTranslation } from "../../../../src/wire/canonical/answer/translate-relay.ts";
import type { AnswerEvent } from "../../../../src/wire/canonical/model/answer.ts";
import { relayChatAnswer } from "../../../../src/wire/openai-chat/passthrough/relay-response.ts";
import { ChatRelay } from "../../../../src/wire/openai-chat/passthrough/relay-stream.ts";
import { openaiChat } from "../../../../src/wire/openai-chat/translate/codec.ts";
import { OPENAI_CHAT_FOLDERS, readAnswers, readStreams } from "../../../support/vendors/recordings.ts";
import { ASKED, collectMessages, END, IDENTITY, translate } from "./support.ts";

const answers = [...OPENAI_CHAT_FOLDERS, "azure"].flatMap(readAnswers);
const streams = OPENAI_CHAT_FOLDERS.flatMap(readStreams).map(({ name, text }) => ({
  name,
  text: Buffer.from(text).toString("latin1"),
}));

describe("a recorded chat answer that is translated", () => {
  test.each(answers)("$name equals the answer of the passthrough", ({ text }) => {
    const direct = relayChatAnswer(text, IDENTITY);
    const hub = createWholeTranslation(openaiChat.decodeAnswer(JSON.parse(text)), {
      codec: openaiChat,
      identity: IDENTITY,
      asked: ASKED,
    });
    if (direct.kind === "error" || hub.kind === "error") {
      expect<unknown>(hub).toEqual(direct);
      return;
    }
    expect(JSON.parse(hub.encode(END))).toEqual(JSON.parse(direct.encode(END)));
    expect(hub.usage).toEqual(direct.usage);
    expect(hub.finish).toEqual(direct.finish);
  });

  const decoded = answers.flatMap(({ name, text }) => {
    const decoding = openaiChat.decodeAnswer(JSON.parse(text));
    return decoding.kind === "answer" ? [{ name, answer: decoding.answer }] : [];
  });

  test.each(decoded)("$name is the same after replay and collection", ({ answer }) => {
    expect(collectAnswer(replayAnswer(answer))).toEqual(answer);
  });
});

describe("a recorded chat stream that is translated", () => {
  test.each(streams)("$name has the same content as the stream of the passthrough", ({ text }) => {
    const direct = new ChatRelay(IDENTITY, false);
    const directOut = direct.step(text) + direct.end();
    const { out, relay } = translate([text]);
    expect(relay.error).toEqual(direct.error);
    expect(relay.classifyEnd()).toBe(direct.classifyEnd());
    expect(relay.usage).toEqual(direct.usage);
    expect(relay.finish()).toEqual(direct.finish());
    expect(relay.sawToken).toBe(direct.sawToken);
    if (relay.classifyEnd() !== "complete") return;
    const whole = out + relay.encodeEnd(END);
    expect(collectMessages(whole)).toEqual(collectMessages(directOut + direct.encodeEnd(END)));
    expect(whole.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test.each(streams)("$name is the same wherever it is cut", ({ text }) => {
    const { out } = translate([text]);
    for (const size of [1, 7, 1_000]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      );
      expect(translate(pieces).out).toBe(out);
    }
  });

  test.each(streams)(
    "$name follows the rules of events, and is the same after replay and collection",
    ({ text }) => {
      const reader = openaiChat.createReader();
      const events = [...reader.step(text), ...reader.end()];
      checkEventRules(events);
      const answer = collectAnswer(events);
      expect(collectAnswer(replayAnswer(answer))).toEqual(answer);
    },
  );
});

/** Checks that indexes count up, parts end once, and a choice finishes once with no open part. */
function checkEventRules(events: readonly AnswerEvent[]): void {
  const open = new Map<number, Set<number>>();
  const next = new Map<number, number>();
  const finished = new Set<number>();
  for (const event of events) {
    if (!("choice" in event)) continue;
    const { choice } = event;
    expect(finished.has(choice)).toBe(false);
    const parts = open.get(choice) ?? new Set();
    open.set(choice, parts);
    if (event.kind === "part-start") {
      expect(event.at).toBe(next.get(choice) ?? 0);
      next.set(choice, event.at + 1);
      parts.add(event.at);
    }
    if (event.kind === "part-delta") expect(parts.has(event.at)).toBe(true);
    if (event.kind === "part-end") expect(parts.delete(event.at)).toBe(true);
    if (event.kind === "finish") {
      expect(parts.size).toBe(0);
      finished.add(choice);
    }
  }
}
