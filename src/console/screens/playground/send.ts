import { atBase } from "../../api/base.ts";
import type { Api, Conversation } from "../../conversation/conversation.ts";
import { API_PATHS, printRequest } from "../../conversation/print-request.ts";
import { type Answer, emptyAnswer, readError, readEvent } from "./read-answer.ts";
import { createEventReader } from "./read-events.ts";

/** The request and the response as they were sent, without the key. */
interface Wire {
  readonly path: string;
  readonly body: string;
  readonly status: number | null;
  /** The headers of the gateway's own and those about limits. */
  readonly headers: readonly (readonly [string, string])[];
  /** The first events of the stream, or the body of an error. */
  readonly events: readonly string[];
  /** The number of further events, which are not kept. */
  readonly dropped: number;
}

/** One request of the playground. */
export interface Run {
  readonly model: string;
  readonly status: "running" | "done" | "failed" | "stopped";
  readonly answer: Answer;
  readonly wire: Wire;
  /** Milliseconds from the request to the first text, reasoning or call; null before it. */
  readonly firstTokenMs: number | null;
  /** Milliseconds from the request to its end, or so far. */
  readonly totalMs: number;
  /** Why there is no whole answer; null if there is. */
  readonly error: string | null;
}

/** The request to send, and its destination. */
interface Sending {
  readonly api: Api;
  readonly model: string;
  readonly conversation: Conversation;
  /** The inference key; null sends no key, which free models allow. */
  readonly key: string | null;
  readonly signal: AbortSignal;
  /** Called with the state of the run, at most once a frame. */
  readonly onUpdate: (run: Run) => void;
}

/** The maximum part of a stream that is kept for the wire column. */
const MAX_EVENTS = 2_000;
const MAX_WIRE_CHARS = 1_000_000;
/** The maximum number of characters of an error body that are read. */
const MAX_ERROR_CHARS = 100_000;

/** Sends a conversation to a model and reads the answer. Resolves with the run at its end; never rejects. */
export async function send(sending: Sending): Promise<Run> {
  const run = new RunState(sending);
  try {
    const response = await request(sending, run);
    run.noteHead(response);
    if (response.ok && response.body !== null) await readStream(response.body, run);
    else await readFailure(response, run);
  } catch (error) {
    run.fail(error instanceof Error ? error.message : String(error));
  }
  return run.end();
}

function request({ api, model, conversation, key, signal }: Sending, run: RunState): Promise<Response> {
  const body = JSON.stringify(printRequest(api, model, conversation));
  run.noteBody(body);
  return fetch(atBase(API_PATHS[api]), {
    method: "POST",
    // The session's cookie is not for inference.
    credentials: "omit",
    signal,
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Error("The gateway could not be reached. Check that it runs and that the network is up.");
  });
}

async function readStream(body: ReadableStream<Uint8Array>, run: RunState): Promise<void> {
  const read = createEventReader();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    const piece = done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
    for (const { raw, data } of read(piece)) run.noteEvent(raw, data);
    if (done) return;
  }
}

async function readFailure(response: Response, run: RunState): Promise<void> {
  const text = (await response.text()).slice(0, MAX_ERROR_CHARS);
  run.noteEvent(text, "");
  run.fail(readError(text, response.status));
}

/** The state of a run that is under way. It is published at most once a frame, because events may come faster. */
class RunState {
  private readonly startedAt = performance.now();
  private readonly events: string[] = [];
  private answer = emptyAnswer();
  private wire: Omit<Wire, "events">;
  private chars = 0;
  private firstTokenMs: number | null = null;
  private error: string | null = null;
  private status: Run["status"] = "running";
  private frame: number | null = null;

  constructor(private readonly sending: Sending) {
    this.wire = { path: API_PATHS[sending.api], body: "", status: null, headers: [], dropped: 0 };
  }

  noteBody(body: string): void {
    this.wire = { ...this.wire, body };
    this.publish();
  }

  noteHead({ status, headers }: Response): void {
    this.wire = { ...this.wire, status, headers: pickHeaders(headers) };
    this.publish();
  }

  noteEvent(raw: string, data: string): void {
    this.chars += raw.length;
    if (this.events.length < MAX_EVENTS && this.chars <= MAX_WIRE_CHARS) this.events.push(raw);
    else this.wire = { ...this.wire, dropped: this.wire.dropped + 1 };
    this.answer = readEvent(this.sending.api, this.answer, data);
    if (this.firstTokenMs === null && hasBegun(this.answer)) this.firstTokenMs = this.elapsed();
    this.publish();
  }

  fail(message: string): void {
    this.error = message;
    this.status = "failed";
  }

  end(): Run {
    if (this.frame !== null) cancelAnimationFrame(this.frame);
    if (this.sending.signal.aborted) this.status = "stopped";
    else if (this.status === "running" && this.answer.error !== null) this.fail(this.answer.error);
    else if (this.status === "running") this.status = "done";
    return this.read();
  }

  private elapsed(): number {
    return performance.now() - this.startedAt;
  }

  private read(): Run {
    const { answer, status, firstTokenMs, error } = this;
    const wire = { ...this.wire, events: [...this.events] };
    return { model: this.sending.model, status, answer, wire, firstTokenMs, totalMs: this.elapsed(), error };
  }

  private publish(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.sending.onUpdate(this.read());
    });
  }
}

function hasBegun({ text, reasoning, calls, images }: Answer): boolean {
  return text !== "" || reasoning !== "" || calls.length > 0 || images.length > 0;
}

function pickHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => name.startsWith("x-gateway-") || name === "x-request-id");
}

/** Returns a header of a run's response; null without one. */
export function headerOf({ wire }: Run, name: string): string | null {
  return wire.headers.find(([header]) => header === name)?.[1] ?? null;
}
