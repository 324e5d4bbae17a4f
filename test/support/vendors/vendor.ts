import { type RawConnection, type RawServer, startRawServer } from "../servers/raw-server.ts";

/** What a simulated vendor does with one call. */
export type Play = (call: VendorCall) => Promise<void> | void;

/** A simulated vendor of the OpenAI chat format: its bytes are scripted, its calls are recorded. */
export interface Vendor {
  /** The value for `base_url`. */
  readonly baseUrl: string;
  /** All calls since the last `perform`, in order. */
  readonly calls: readonly VendorCall[];
  /** Waits for the call of that index. */
  call(index: number): Promise<VendorCall>;
  /** Discards earlier calls, and answers from now on with `play`. */
  perform(play: Play): void;
  stop(): void;
}

/** One request to a vendor, and the means to answer it in any way. */
export interface VendorCall {
  /** The request's head, lines as received. */
  readonly head: string;
  /** The request's body, parsed. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the body asks for a stream. */
  readonly isStream: boolean;
  readonly connection: RawConnection;
  /** Sends a complete answer with a content-length. A string is sent unchanged, anything else as JSON. */
  respond(status: number, body: unknown, headers?: Readonly<Record<string, string>>): Promise<void>;
  /** Sends the head of a chunked response. */
  begin(status?: number, headers?: Readonly<Record<string, string>>): Promise<void>;
  /** Sends a piece of the body as one HTTP chunk. */
  piece(bytes: string | Uint8Array): Promise<void>;
  /** Sends an event of a stream as one HTTP chunk. */
  events(...events: readonly unknown[]): Promise<void>;
  /** Ends a chunked response. */
  end(): Promise<void>;
  /** Waits until the test opens the gate, or the connection is closed. */
  gate(): Promise<void>;
  /** Opens the gate. */
  openGate(): void;
  /** Resolves when the vendor has reached its gate. */
  readonly atGate: Promise<void>;
}

/** Starts a vendor that answers with `play`. */
export function startVendor(play: Play = healthy("Alpha")): Vendor {
  let current = play;
  let calls: ScriptedCall[] = [];
  let arrival = Promise.withResolvers<void>();
  const server: RawServer = startRawServer(async (connection) => {
    for (let request = await connection.request(); request !== null; request = await connection.request()) {
      const call = new ScriptedCall(connection, request.head, request.body);
      calls.push(call);
      arrival.resolve();
      arrival = Promise.withResolvers();
      await current(call);
    }
  });
  return {
    baseUrl: `${server.origin}/v1`,
    get calls() {
      return calls;
    },
    async call(index) {
      while (calls.length <= index) await arrival.promise;
      return calls[index]!;
    },
    perform(next) {
      calls = [];
      current = next;
    },
    stop: () => server.stop(),
  };
}

class ScriptedCall implements VendorCall {
  readonly body: Readonly<Record<string, unknown>>;
  private readonly opening = Promise.withResolvers<void>();
  private readonly arriving = Promise.withResolvers<void>();

  constructor(
    readonly connection: RawConnection,
    readonly head: string,
    body: Uint8Array,
  ) {
    this.body = JSON.parse(Buffer.from(body).toString("utf8") || "{}");
  }

  get isStream(): boolean {
    return this.body["stream"] === true;
  }

  get atGate(): Promise<void> {
    return this.arriving.promise;
  }

  async respond(
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body), "utf8");
    const all = { "content-type": "application/json", "content-length": String(bytes.length), ...headers };
    await this.connection.write(Buffer.concat([encodeHead(status, all), bytes]));
  }

  async begin(status = 200, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const contentType = this.isStream ? "text/event-stream" : "application/json";
    const all = { "content-type": contentType, "transfer-encoding": "chunked", ...headers };
    await this.connection.write(encodeHead(status, all));
  }

  async piece(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
    if (bytes.length === 0) return;
    const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
    await this.connection.write(Buffer.concat([size, bytes, CRLF]));
  }

  async events(...events: readonly unknown[]): Promise<void> {
    for (const event of events)
      await this.piece(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  }

  async end(): Promise<void> {
    await this.connection.write("0\r\n\r\n");
  }

  async gate(): Promise<void> {
    this.arriving.resolve();
    await Promise.race([this.opening.promise, this.connection.closed]);
  }

  openGate(): void {
    this.opening.resolve();
  }
}

const CRLF = Buffer.from("\r\n");

function encodeHead(status: number, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} Scripted\r\n${lines.join("")}\r\n`, "latin1");
}

/** The token usage that every simulated vendor reports. */
export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** Returns a chunk of a stream. */
export function chunkOf(delta: Readonly<Record<string, unknown>>, finishReason: string | null = null) {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id: "chatcmpl-vendor", object: "chat.completion.chunk", created: 1, model: "up", choices };
}

/** Returns a chunk of text. */
export function textOf(content: string) {
  return chunkOf({ content });
}

/** Returns the events that begin a stream: the role, then text. */
export function opening(text: string): readonly unknown[] {
  return [chunkOf({ role: "assistant", content: "" }), textOf(text)];
}

/** Returns the events that end a stream: finish reason, usage, `[DONE]`. */
export function closing(finishReason = "stop"): readonly unknown[] {
  return [chunkOf({}, finishReason), { ...chunkOf({}), choices: [], usage: USAGE }, "[DONE]"];
}

/** Returns an answer that is not streamed. */
export function documentOf(content: string, rest: Readonly<Record<string, unknown>> = { usage: USAGE }) {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  return { id: "chatcmpl-vendor", object: "chat.completion", created: 1, model: "up", choices, ...rest };
}

/** Returns a healthy vendor that answers `NAME one two`. */
export function healthy(name: string): Play {
  return async (call) => {
    if (!call.isStream) return call.respond(200, documentOf(`${name} one two`));
    await call.begin();
    await call.events(...opening(`${name} one`), textOf(" two"), ...closing());
    await call.end();
  };
}
