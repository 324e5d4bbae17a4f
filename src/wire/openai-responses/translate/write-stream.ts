import type { AnswerEvent, Finish } from "../../canonical/answer.ts";
import { joinExtras } from "../../canonical/collect-answer.ts";
import type {
  AnswerEnd,
  AnswerIdentity,
  AnswerWriter,
  AskedFor,
  StreamError,
} from "../../canonical/format.ts";
import type { Extras } from "../../canonical/parts.ts";
import type { Fields } from "../../json/fields.ts";
import { encodeFailure } from "../errors.ts";
import { encodeEvent } from "../stream-events.ts";
import { keepForAnswer } from "./keep-for-answer.ts";
import { encodeEcho, encodeResponse, encodeStart } from "./response-fields.ts";
import {
  closeItems,
  createItemWriter,
  hasRefusal,
  type ItemWriter,
  readOutput,
  stepItems,
} from "./write-items.ts";

/** The state of a writer. */
interface WriterState {
  readonly start: Fields;
  readonly items: ItemWriter;
  readonly events: EventSink;
  finish: Finish | null;
  serviceTier: string | null;
  extras: Extras | undefined;
}

/** Numbers events and collects them until they are returned. */
interface EventSink {
  sequence: number;
  out: string;
}

/**
 * Returns a writer of streams in OpenAI's form: each item and part is added, grown and done, and the whole response comes last.
 */
export function createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter {
  const request = keepForAnswer(asked.request);
  const events: EventSink = { sequence: 0, out: "" };
  const items = createItemWriter(identity.id, request.tools, (type, fields) =>
    pushEvent(events, type, fields),
  );
  const start = encodeStart(identity, encodeEcho(request));
  const state: WriterState = { start, items, events, finish: null, serviceTier: null, extras: undefined };
  const collect = (write: () => void): string => {
    if (events.sequence === 0) writeStart(state);
    write();
    const { out } = events;
    events.out = "";
    return out;
  };
  return {
    step: (event) => collect(() => stepWriter(state, event)),
    end: (end) => collect(() => writeEnd(state, end)),
    fail: (error) => collect(() => writeFailure(state, error)),
  };
}

function pushEvent(sink: EventSink, type: string, fields: Fields): void {
  sink.out += encodeEvent({ type, sequence_number: sink.sequence++, ...fields });
}

function writeStart({ start, events }: WriterState): void {
  pushEvent(events, "response.created", { response: start });
  pushEvent(events, "response.in_progress", { response: start });
}

function stepWriter(state: WriterState, event: AnswerEvent): void {
  switch (event.kind) {
    case "part-start":
    case "part-delta":
    case "part-end":
    case "logprobs":
      // This format has one choice; requests for more were rejected.
      if (event.choice === 0) stepItems(state.items, event);
      break;
    case "finish":
      if (event.choice === 0) state.finish = event.finish;
      break;
    case "service-tier":
      state.serviceTier = event.tier;
      break;
    case "extras":
      state.extras = joinExtras(state.extras, event.extras);
      break;
  }
}

function writeEnd(state: WriterState, end: AnswerEnd): void {
  const { events, finish, items, serviceTier, extras, start } = state;
  closeItems(items, finish?.reason ?? null);
  const outcome = { output: readOutput(items), finish, serviceTier, extras, hasRefusal: hasRefusal(items) };
  const response = encodeResponse(start, outcome, end);
  pushEvent(events, `response.${String(response["status"])}`, { response });
}

/** Writes an error as a failed response, because agents ignore a bare `error` event. */
function writeFailure({ events, items, start }: WriterState, error: StreamError): void {
  const response = {
    ...start,
    status: "failed",
    error: encodeFailure(error),
    output: readOutput(items),
  };
  pushEvent(events, "response.failed", { response });
}
