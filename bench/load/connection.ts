import type { Socket } from "bun";
import { FIRST_TOKEN } from "./answers.ts";
import { findHeader, MessageReader } from "./framing.ts";
import type { ClientApi, LoadOrder } from "./messages.ts";

const FIRST = Buffer.from(FIRST_TOKEN);
const EVENT_END = Buffer.from("\n\n");

/** The marks by which a complete stream of an API is recognized. */
interface StreamMarks {
  /** The beginning of its last event. */
  readonly end: Buffer;
  /** Occurs once in every event with content. */
  readonly content: Buffer;
  /** Occurs where such an event has no content. */
  readonly empty: Buffer;
}

const MARKS: Readonly<Record<ClientApi, StreamMarks>> = {
  chat: marks("data: [DONE]", '"content":"', '"content":""'),
  messages: marks("event: message_stop", '"type":"text_delta"', '"type":"text_delta","text":""'),
  responses: marks("data: [DONE]", '"type":"response.output_text.delta"', '"delta":""'),
};

function marks(end: string, content: string, empty: string): StreamMarks {
  return { end: Buffer.from(end), content: Buffer.from(content), empty: Buffer.from(empty) };
}

/** Every answer is checked for its status, marker and end; one in this many also for every event. */
const FULL_CHECK_EVERY = 64;
const FAULT_CHARS = 120;

/** The owner of a connection, which is told about its answers. */
export interface ConnectionOwner {
  readonly order: LoadOrder;
  readonly request: Buffer;
  /** `fault` says what is wrong with the answer; `firstTokenAt` is 0 if the answer was not a stream. */
  answered(connection: Connection, dueAt: number, firstTokenAt: number, fault: string | null): void;
}

/** A keep-alive connection with at most one request in flight. */
export class Connection {
  readonly #reader = new MessageReader(
    { bodyGrew: () => this.#lookForFirstToken(), messageEnded: () => this.#end(this.#faultOf()) },
    true,
  );
  readonly #marker: Buffer;
  #socket: Socket<Connection> | null = null;
  #unsent: Buffer | null = null;
  #dueAt = 0;
  #firstTokenAt = 0;
  #isBusy = false;
  #isClosed = false;
  #answers = 0;

  private constructor(private readonly owner: ConnectionOwner) {
    this.#marker = Buffer.from(owner.order.marker);
  }

  static async open(owner: ConnectionOwner): Promise<Connection> {
    const connection = new Connection(owner);
    await connection.#open();
    return connection;
  }

  /** Sends the owner's request; `dueAt` is when it should have left. */
  send(dueAt: number): void {
    this.#dueAt = dueAt;
    this.#firstTokenAt = 0;
    this.#isBusy = true;
    if (this.#socket === null) this.#reopen();
    else this.#write(this.owner.request);
  }

  close(): void {
    this.#isClosed = true;
    this.#isBusy = false;
    this.#socket?.terminate();
  }

  async #open(): Promise<void> {
    this.#socket = await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: this.owner.order.door.port,
      data: this,
      socket: {
        data: (_, data) => this.#read(data),
        drain: () => this.#drain(),
        close: (socket) => this.#left(socket, "connection closed"),
        error: (socket, error) => this.#left(socket, `connection failed: ${error.message}`),
      },
    });
    this.#socket.setNoDelay(true);
  }

  /** A target may close an idle connection; the request that finds it closed opens a new one. */
  #reopen(): void {
    this.#open().then(
      () => this.#write(this.owner.request),
      (error) => this.#end(`no connection: ${error}`),
    );
  }

  #write(bytes: Buffer): void {
    const sent = Math.max(0, this.#socket?.write(bytes) ?? 0);
    this.#unsent = sent < bytes.length ? bytes.subarray(sent) : null;
  }

  #drain(): void {
    if (this.#unsent !== null) this.#write(this.#unsent);
  }

  #read(data: Buffer): void {
    if (!this.#isBusy) return;
    try {
      this.#reader.push(data);
    } catch (error) {
      this.#end(`bad framing: ${error}`);
    }
  }

  #left(socket: Socket<Connection>, how: string): void {
    // The end of the previous socket may be reported after the next one was opened.
    if (socket !== this.#socket) return;
    this.#socket = null;
    if (!this.#isClosed) this.#end(how);
  }

  #lookForFirstToken(): void {
    if (!this.owner.order.stream || this.#firstTokenAt > 0) return;
    if (this.#reader.body.includes(FIRST)) this.#firstTokenAt = performance.now();
  }

  #end(fault: string | null): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    this.#unsent = null;
    // Last, because the owner may send the next request from within this call.
    this.owner.answered(this, this.#dueAt, this.#firstTokenAt, fault);
  }

  #faultOf(): string | null {
    const { head, body } = this.#reader;
    const { order } = this.owner;
    if (!head.startsWith("HTTP/1.1 200")) return describe(head, body);
    if (!body.includes(this.#marker)) return "answer without the expected marker";
    if (order.stream && !hasEnded(body, MARKS[order.door.api].end)) return "stream without its last event";
    if (this.#answers++ % FULL_CHECK_EVERY === 0) return this.#faultInFull(body);
    return null;
  }

  #faultInFull(body: Buffer): string | null {
    const { order } = this.owner;
    if (order.stream) {
      const { content, empty } = MARKS[order.door.api];
      const found = count(body, content) - count(body, empty);
      return found === order.events ? null : `stream with ${found} content events, not ${order.events}`;
    }
    const type = findHeader(this.#reader.head, "content-type") ?? "";
    return type.startsWith("application/json") && isJson(body) ? null : "answer that is not JSON";
  }
}

function describe(head: string, body: Buffer): string {
  const status = head.slice(9, 12);
  return `status ${status}: ${body.toString().slice(0, FAULT_CHARS)}`;
}

/** Whether the last event of a stream is the one that ends it. */
function hasEnded(body: Buffer, end: Buffer): boolean {
  const before = body.lastIndexOf(EVENT_END, -EVENT_END.length - 1);
  return body.indexOf(end, before) === before + EVENT_END.length;
}

function count(body: Buffer, what: Buffer): number {
  let found = 0;
  for (let at = body.indexOf(what); at >= 0; at = body.indexOf(what, at + what.length)) found++;
  return found;
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
