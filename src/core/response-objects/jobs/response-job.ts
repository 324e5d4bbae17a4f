import { type Failure, failureOf } from "../../../base/failures/errors.ts";
import type { Log } from "../../../base/failures/log.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import { readLatin1 } from "../../../base/text/decode-bytes.ts";
import type { Clock } from "../../../base/time/clock.ts";
import {
  type LastEvent,
  readEndedItem,
  type StateStream,
} from "../../../wire/openai-responses/state/answer-state.ts";
import type { GenerationResult } from "../../generation/call/call.ts";
import { keepTrying } from "../keep/keep-trying.ts";
import type { KeptResponse } from "../keep/kept-response.ts";
import type { ResponseStatus, StoredObject } from "../records/response-object.ts";
import type { ResponseStore } from "../records/response-store.ts";
import type { ObjectSeal } from "../records/seal-object.ts";
import { type DescribedEnd, describeEnd } from "./describe-end.ts";
import { EventLog, splitEvents } from "./event-log.ts";

/** How the answer of a job ended: with its last event, with a failure, or without either. */
type JobEnd =
  | { readonly kind: "ended"; readonly last: LastEvent }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "broken" };

const NOT_STREAMED: Failure = {
  code: "internal",
  message: "The gateway failed. Try again.",
  internal: "the answer of a background response was not a stream",
};

const BROKEN: Failure = {
  code: "unavailable",
  message: "The gateway stopped before the response had ended. Send the request again.",
};

/** What a job needs. */
export interface JobDeps {
  readonly store: ResponseStore;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** Called after events or the end of a response were written. */
  readonly onWritten: (responseId: string) => void;
  /** How long the response may take. Milliseconds. */
  readonly longestMs: number;
}

/** A response that runs without its client. */
export class ResponseJob {
  private readonly controller = new AbortController();
  private readonly events: StateStream;
  /** The items that are complete, as JSON. */
  private readonly items: string[] = [];
  private readonly whenAnswered = Promise.withResolvers<void>();
  private isCancelled = false;

  constructor(
    private readonly deps: JobDeps,
    private readonly response: KeptResponse,
  ) {
    this.events = response.openEvents();
  }

  /** The client of the generation, from whose view it leaves when the job is cancelled. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** How long it may take. Milliseconds. */
  get longestMs(): number {
    return this.deps.longestMs;
  }

  /** Resolves when its provider has answered, or has failed. */
  get answered(): Promise<void> {
    return this.whenAnswered.promise;
  }

  /** Ends the work of the provider. What it has produced is charged. */
  cancel(): void {
    this.isCancelled = true;
    this.controller.abort();
  }

  /** Ends the work of the provider, because another gateway has ended the response: this one seemed to be gone. */
  abandon(): void {
    this.controller.abort();
  }

  /** Reads the answer to its end, and stores its events and its end. Never rejects. */
  async run(begun: StoredObject, seal: ObjectSeal, generating: Promise<GenerationResult>): Promise<void> {
    const { deps } = this;
    const onWritten = () => deps.onWritten(begun.id);
    const log = new EventLog({ ...deps, seal, run: begun, onWritten, onLost: () => this.abandon() });
    const end = await this.readEnd(begun, log, generating);
    this.whenAnswered.resolve();
    await this.storeEnd(begun, log, end);
    onWritten();
  }

  /** Returns the end of the answer, whose other events are in the log. */
  private async readEnd(
    begun: StoredObject,
    log: EventLog,
    generating: Promise<GenerationResult>,
  ): Promise<DescribedEnd> {
    try {
      return this.describe(begun, log, await this.readAnswer(await generating, log));
    } catch (error) {
      return this.describe(begun, log, { kind: "failed", failure: failureOf(error) });
    }
  }

  private async readAnswer({ answer }: GenerationResult, log: EventLog): Promise<JobEnd> {
    switch (answer.kind) {
      case "failure":
        return { kind: "failed", failure: answer.failure };
      case "gone":
        return { kind: "broken" };
      case "json":
        return { kind: "failed", failure: NOT_STREAMED };
      case "stream":
        return answer.stream instanceof ReadableStream
          ? this.readStream(answer.stream, log)
          : (this.take(answer.stream, log) ?? { kind: "broken" });
    }
  }

  private async readStream(stream: ReadableStream<Uint8Array>, log: EventLog): Promise<JobEnd> {
    for await (const piece of stream) {
      const end = this.take(piece, log);
      if (end !== null) return end;
    }
    return { kind: "broken" };
  }

  private take(piece: Uint8Array, log: EventLog): JobEnd | null {
    const { out, last } = this.events.read(readLatin1(piece));
    log.add(out);
    for (const event of splitEvents(out)) {
      const item = readEndedItem(event);
      if (item !== null) this.items.push(item);
    }
    return last === null ? null : { kind: "ended", last };
  }

  /** Stores the end, again and again while the store is unavailable. */
  private async storeEnd(begun: StoredObject, log: EventLog, end: DescribedEnd): Promise<void> {
    const { status, response, output, events } = end;
    log.add(events);
    const what = "the end of a background response could not be stored";
    await keepTrying(this.deps, { responseId: begun.id, what }, async () => {
      await log.flush();
      await this.response.store(begun.id, status, { output, response, eventBytes: log.bytes });
    });
  }

  private describe(begun: StoredObject, log: EventLog, end: JobEnd): DescribedEnd {
    if (end.kind === "ended") {
      const { ended, encode } = end.last;
      return { ...ended, status: ended.status as ResponseStatus, events: encode(this.response.fields) };
    }
    const begunResponse = this.events.readBegun();
    const broken = {
      begun:
        (begunResponse === null ? null : tryParseFields(begunResponse)) ??
        this.response.describeState(begun.id),
      output: this.items,
      sequence: log.lastSequence + 1,
    };
    return describeEnd(broken, this.isCancelled ? "cancelled" : end.kind === "failed" ? end.failure : BROKEN);
  }
}
