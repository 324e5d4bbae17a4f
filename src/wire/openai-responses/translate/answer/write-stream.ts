import type { Fields } from "../../../../base/json/fields.ts";
import { joinExtras } from "../../../canonical/answer/collect-answer.ts";
import type { AnswerEvent, Finish } from "../../../canonical/model/answer.ts";
import type {
  AnswerEnd,
  AnswerIdentity,
  AnswerWriter,
  AskedFor,
  StreamError,
} from "../../../canonical/model/format.ts";
import type { Extras } from "../../../canonical/model/parts.ts";
import { encodeFailure } from "../../errors.ts";
import { encodeEvent, STREAM_END } from "../../stream-events.ts";
import { keepForAnswer } from "./keep-for-answer.ts";
import { encodeEcho, encodeResponse, encodeStart } from "./response-fields.ts";
import { ItemWriter } from "./write-items.ts";

/**
 * Returns a writer of this format's streams: each item and part is added, extended and completed, and the whole response follows at the
 * end.
 */
export function createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter {
  return new ResponseWriter(identity, asked);
}

class ResponseWriter implements AnswerWriter {
  /** The response at its start. */
  private readonly begun: Fields;
  private readonly items: ItemWriter;
  /** The sequence number of the next event. */
  private sequence = 0;
  /** The events that were not returned yet. */
  private out = "";
  private finish: Finish | null = null;
  private serviceTier: string | null = null;
  private extras: Extras | undefined;

  constructor(identity: AnswerIdentity, asked: AskedFor) {
    const request = keepForAnswer(asked.request);
    this.begun = encodeStart(identity, encodeEcho(request));
    this.items = new ItemWriter(identity.id, request.tools, (type, fields) => this.emit(type, fields));
  }

  step(event: AnswerEvent): string {
    this.start();
    switch (event.kind) {
      case "part-start":
      case "part-delta":
      case "part-end":
      case "logprobs":
        // This format has one choice; requests for more were rejected.
        if (event.choice === 0) this.items.step(event);
        break;
      case "finish":
        if (event.choice === 0) this.finish = event.finish;
        break;
      case "service-tier":
        this.serviceTier = event.tier;
        break;
      case "extras":
        this.extras = joinExtras(this.extras, event.extras);
        break;
    }
    return this.takeOutput();
  }

  end(end: AnswerEnd): string {
    this.start();
    const { finish, items, serviceTier, extras } = this;
    items.end(finish?.reason ?? null);
    const outcome = {
      output: items.readOutput(),
      finish,
      serviceTier,
      extras,
      hasRefusal: items.hasRefusal(),
    };
    const response = encodeResponse(this.begun, outcome, end);
    this.emit(`response.${String(response["status"])}`, { response });
    return this.takeOutput() + STREAM_END;
  }

  /** Encodes an error as a failed response, because agents ignore a bare `error` event. */
  fail(error: StreamError): string {
    this.start();
    const output = this.items.readOutput();
    const response = { ...this.begun, status: "failed", error: encodeFailure(error), output };
    this.emit("response.failed", { response });
    return this.takeOutput() + STREAM_END;
  }

  /** Emits the start of the stream, once. */
  private start(): void {
    if (this.sequence > 0) return;
    this.emit("response.created", { response: this.begun });
    this.emit("response.in_progress", { response: this.begun });
  }

  private emit(type: string, fields: Fields): void {
    this.out += encodeEvent({ type, sequence_number: this.sequence++, ...fields });
  }

  private takeOutput(): string {
    const { out } = this;
    this.out = "";
    return out;
  }
}
