import { describe, expect, test } from "bun:test";
import type { TextAnswers } from "../../src/wire/client-apis/request/inference-request.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { makeIdentity, STREAM_HEAD } from "../fidelity/answers/run-answers.ts";
import { CLIENTS, type Client } from "../fidelity/formats.ts";
import { openRequest } from "../fidelity/open-request.ts";
import { makeTarget } from "../fidelity/targets.ts";
import { isInRun } from "../support/long-run.ts";
import { endWith } from "../support/vendors/answer-end.ts";
import { ANSWER_DIMENSIONS } from "./answer-dimensions.ts";
import { growsLinearly, LARGER, type Work } from "./measure-growth.ts";

const SIZE = 50;

const HELLO = [{ role: "user", content: "Hello!" }];
const BODIES: Readonly<Record<Client, Readonly<Record<string, unknown>>>> = {
  chat: { model: "acme/model", messages: HELLO },
  messages: { model: "acme/model", max_tokens: 100, messages: HELLO },
  responses: { model: "acme/model", input: "Hello!" },
};

function openFor(client: Client, format: FormatName): TextAnswers {
  return openRequest(client, BODIES[client]).encoding.encode(makeTarget(format)).answers;
}

function readWhole(client: Client, format: FormatName, body: unknown): Work {
  const text = JSON.stringify(body);
  return () => {
    const answer = openFor(client, format).readAnswer(text, makeIdentity());
    return answer.kind === "answer" ? answer.encode(endWith(answer.usage)) : answer.error;
  };
}

function readStream(client: Client, format: FormatName, pieces: readonly string[]): Work {
  return () => {
    const { relay } = openFor(client, format).openRelay(makeIdentity(), STREAM_HEAD);
    let sent = 0;
    for (const piece of pieces) {
      sent += relay.step(piece).length;
      if (relay.isFinished) sent++;
    }
    sent += relay.end().length;
    const last =
      relay.classifyEnd() === "complete"
        ? relay.encodeEnd(endWith(relay.usage))
        : relay.encodeError({ message: "No.", code: 502, type: "upstream_error" });
    return sent + last.length;
  };
}

describe("doubling a dimension of an answer at most triples its work", () => {
  for (const [index, { format, name, whole, stream }] of ANSWER_DIMENSIONS.entries()) {
    const inRun = (shift: number) =>
      CLIENTS.filter((_, client) => isInRun(CLIENTS.length, index, client, shift));
    if (whole !== null) {
      test.each(inRun(0))(`${format}, whole, ${name}, for a client of %s`, (client) => {
        const [small, large] = [SIZE, LARGER * SIZE].map((n) => readWhole(client, format, whole(n)));
        expect(growsLinearly(small as Work, large as Work)).toBe(true);
      });
    }
    if (stream !== null) {
      test.each(inRun(1))(`${format}, streamed, ${name}, for a client of %s`, (client) => {
        const [small, large] = [SIZE, LARGER * SIZE].map((n) => readStream(client, format, stream(n)));
        expect(growsLinearly(small as Work, large as Work)).toBe(true);
      });
    }
  }
});
