import type { Fields } from "../../../src/base/json/fields.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { AnswerHead, RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import type { Answer, AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import type { UpstreamCodec } from "../../../src/wire/canonical/model/format.ts";
import type { TextAnswers } from "../../../src/wire/client-apis/request/inference-request.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { UPSTREAM_CODECS } from "../../../src/wire/formats/codecs.ts";
import { endWith } from "../../support/vendors/answer-end.ts";
import { CLIENTS, type Client, FORMAT_OF, FORMATS } from "../formats.ts";
import { openRequest } from "../open-request.ts";
import { holds } from "../probe.ts";
import { makeBody } from "../requests/request-case.ts";
import { makeTarget } from "../targets.ts";
import type { AnswerFeature } from "./features.ts";
import { foldStream, openEnvelopes, readEvents } from "./fold.ts";
import { VENDORS } from "./vendors.ts";

/** The result of translating a feature from a vendor to a client: present, not needed, or lost. */
export type AnswerVerdict = "kept" | "needless" | "LOST";

export interface AnswerRun {
  readonly format: FormatName;
  readonly client: Client;
  readonly verdict: AnswerVerdict;
  /** The whole answer; null if only streams have the feature. */
  readonly whole: Fields | null;
  /** The stream, bytes as Latin-1. */
  readonly stream: string;
}

/** Returns the identity of a generation. Generated call ids are numbered. */
export function makeIdentity(): RelayIdentity {
  let made = 0;
  return {
    id: "gen_test",
    model: "acme/model",
    created: 1_700_000_000,
    originalIds: null,
    makeCallId: () => `call_made_${++made}`,
    onTurn: () => {},
  };
}

/** Translates a feature from every vendor that has it to every client API. */
export function runFeature(feature: AnswerFeature): AnswerRun[] {
  return FORMATS.flatMap((format) => {
    const vendor = VENDORS[format][feature.name];
    if (vendor === undefined) return [];
    return CLIENTS.map((client) => {
      const whole = vendor.whole === null ? null : readWhole(open(feature, client, format), vendor.whole);
      const stream = readStream(open(feature, client, format), vendor.stream);
      return { format, client, verdict: classify(feature, client, whole, stream), whole, stream };
    });
  });
}

/** The head of an answer that is a stream. */
export const STREAM_HEAD: AnswerHead = { contentType: "text/event-stream", isDocument: false };

/** Encodes a request, and returns what reads its answer. */
function open({ asks }: AnswerFeature, client: Client, format: FormatName): TextAnswers {
  return openRequest(client, makeBody(client, asks?.[client] ?? {})).encoding.encode(makeTarget(format))
    .answers;
}

/** Returns a vendor's whole answer as the client receives it. */
export function readWhole(answers: TextAnswers, body: Fields): Fields {
  const answer = answers.readAnswer(JSON.stringify(body), makeIdentity());
  if (answer.kind === "error") throw new Error(answer.error.message);
  return JSON.parse(answer.encode(endWith(answer.usage)));
}

/** Returns a vendor's stream as the client receives it, including its last event. */
export function readStream(answers: TextAnswers, wire: string): string {
  const { relay } = answers.openRelay(makeIdentity(), STREAM_HEAD);
  const out = relay.step(wire) + relay.end();
  if (relay.classifyEnd() === "complete") return out + relay.encodeEnd(endWith(relay.usage));
  const message = relay.error?.message ?? "The upstream's answer broke off.";
  return out + relay.encodeError({ message, code: 502, type: "upstream_error" });
}

function classify(
  feature: AnswerFeature,
  client: Client,
  whole: Fields | null,
  stream: string,
): AnswerVerdict {
  const seen = feature.seen[client];
  const forms = [...(whole === null ? [] : [whole]), foldStream(client, readEvents(stream))];
  const wanted = seen === undefined ? [] : Array.isArray(seen) ? seen : [seen];
  const isKept =
    wanted.length > 0 &&
    forms.map((form) => openEnvelopes(form)).every((form) => wanted.some((one) => holds(form, one)));
  if (isKept) return "kept";
  return feature.needless?.[client] === undefined ? "LOST" : "needless";
}

/** Reads the client's whole answer and its stream with the reader of the client's format. */
export function readBack(client: Client, { whole, stream }: Pick<AnswerRun, "whole" | "stream">) {
  const codec: UpstreamCodec = UPSTREAM_CODECS[FORMAT_OF[client]];
  const decoding = whole === null ? null : codec.decodeAnswer(whole);
  if (decoding?.kind === "error") throw new Error(decoding.error.message);
  return { whole: decoding === null ? null : decoding.answer, streamed: readClientStream(client, stream) };
}

/** Reads a client's stream with the reader of its format. Throws if it is not a complete answer. */
export function readClientStream(client: Client, stream: string): Answer {
  const reader = UPSTREAM_CODECS[FORMAT_OF[client]].createReader();
  const events: AnswerEvent[] = [...reader.step(stream), ...reader.end()];
  const failure = events.find((event) => event.kind === "error");
  if (failure?.kind === "error") throw new Error(failure.error.message);
  return collectAnswer(events);
}
