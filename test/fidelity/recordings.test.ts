import { describe, expect, test } from "bun:test";
import { collectAnswer, replayAnswer } from "../../src/wire/canonical/answer/collect-answer.ts";
import { createNormaliser } from "../../src/wire/canonical/answer/normalise-answer.ts";
import type { Answer } from "../../src/wire/canonical/model/answer.ts";
import { FINISH_WORDS } from "../../src/wire/canonical/model/finish-words.ts";
import { UPSTREAM_CODECS } from "../../src/wire/formats/codecs.ts";
import { hasRecordings } from "../support/vendors/recordings.ts";
import { countEnds } from "./answers/count-ends.ts";
import { makeIdentity, readClientStream, readStream, readWhole } from "./answers/run-answers.ts";
import { summarise } from "./answers/summarise.ts";
import { CLIENTS, type Client, FORMAT_OF } from "./formats.ts";
import { openRequest } from "./open-request.ts";
import { type RecordedAnswer, readRecorded } from "./recorded/recorded-answers.ts";
import { makeBody } from "./requests/request-case.ts";
import { makeTarget } from "./targets.ts";

const RECORDED = readRecorded();
const PAIRS = RECORDED.flatMap((recorded) =>
  CLIENTS.map((client) => [`${recorded.name} (${recorded.format}) to ${client}`, recorded, client] as const),
);

/** Decodes a recording, with the corrections of translated answers. */
function readHub({ format, whole, stream }: RecordedAnswer): Answer {
  const codec = UPSTREAM_CODECS[format];
  const normaliser = createNormaliser(makeIdentity());
  if (stream !== null) {
    const reader = codec.createReader();
    const events = [...reader.step(stream), ...reader.end()];
    return collectAnswer(events.flatMap((event) => normaliser.step(event)));
  }
  const decoding = codec.decodeAnswer(whole ?? {});
  if (decoding.kind === "error") throw new Error(decoding.error.message);
  return collectAnswer([...replayAnswer(decoding.answer)].flatMap((event) => normaliser.step(event)));
}

/** Returns what every client must receive: text, reasoning, calls, the finish, and the usage if `wantsUsage`. */
function pickEssentials(answer: Answer, wantsUsage: boolean) {
  const { choices, usage } = summarise(answer);
  const [first] = choices;
  const isTool = first?.calls.length !== 0 && FINISH_WORDS[first?.reason ?? "stop"] === "stop";
  return {
    text: `${first?.text}${first?.refusal}`,
    reasoning: first?.reasoning,
    calls: first?.calls.map(({ id, name, arguments: args }) => [id, name, args]),
    finish: isTool ? "tool_calls" : FINISH_WORDS[first?.reason ?? "stop"],
    ...(wantsUsage && usage !== null
      ? {
          prompt: usage.promptTokens,
          completion: usage.completionTokens,
          cached: usage.cachedTokens,
          written: usage.cacheWriteTokens,
          reasoning: usage.reasoningTokens,
        }
      : {}),
  };
}

/** Whether a client API lacks the recorded tools: Messages has no custom tools and gets an object instead of free text. */
function isInexpressible({ format, name }: RecordedAnswer, client: Client): boolean {
  return client === "messages" && format === "openai-responses" && name.includes("custom-tool");
}

function readClient(client: Client, recorded: RecordedAnswer): Answer {
  const { format, whole, stream } = recorded;
  const { answers } = openRequest(client, makeBody(client, {})).encoding.encode(makeTarget(format));
  if (stream !== null) {
    const out = readStream(answers, stream);
    expect(countEnds(client, out)).toEqual({ ends: 1, isLast: true });
    return readClientStream(client, out);
  }
  const decoding = UPSTREAM_CODECS[FORMAT_OF[client]].decodeAnswer(readWhole(answers, whole ?? {}));
  if (decoding.kind === "error") throw new Error(decoding.error.message);
  return decoding.answer;
}

describe("a recorded answer", () => {
  test.if(hasRecordings)("is available for many cases", () => {
    expect(RECORDED.length).toBeGreaterThan(150);
  });

  test.each(PAIRS.filter(([, recorded, client]) => !isInexpressible(recorded, client)))(
    "has the same content for its client: %s",
    (_name, recorded, client) => {
      const hub = readHub(recorded);
      // If the vendor counts nothing, a Messages stream begins with an estimate.
      const wantsUsage = hub.usage !== null;
      expect(pickEssentials(readClient(client, recorded), wantsUsage)).toEqual(
        pickEssentials(hub, wantsUsage),
      );
    },
  );
});
