import type { TestGateway } from "../gateway/gateway.ts";
import { dialRaw, type RawClient } from "./raw-client.ts";

/** A frame of the gateway: an event of an answer, or an error. */
// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
export type Frame = Readonly<Record<string, any>>;

/** How a connection has ended. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A client of the Responses API over a WebSocket. */
export interface SocketClient {
  /** All frames so far. */
  readonly frames: readonly Frame[];
  /** Resolves when the connection has ended. */
  readonly closed: Promise<Closed>;
  /** Sends a frame: text or bytes as they are, anything else as JSON. */
  send(frame: unknown): void;
  /** Resolves to the next frame that was not read yet. Rejects if the connection ends before. */
  next(): Promise<Frame>;
  /** Reads frames up to the end of a response, or to an error. */
  readTurn(): Promise<readonly Frame[]>;
  /** Asks for a response, and reads its frames. */
  turn(fields: object): Promise<readonly Frame[]>;
  /** Asks for a response, and resolves to its last frame. */
  ask(fields: object): Promise<Frame>;
  close(): Promise<Closed>;
}

/** What a client sends when it connects. By default the inference key, at `/v1/responses`. */
export interface SocketOptions {
  readonly key?: string | null;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const LAST = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

type Reached = Pick<TestGateway, "url" | "key">;

/** Opens a WebSocket. Rejects if the gateway does not accept it. */
export async function openSocket(gateway: Reached, options: SocketOptions = {}): Promise<SocketClient> {
  const { path = "/v1/responses", key = gateway.key, headers = {} } = options;
  const credentials = key === null ? {} : { authorization: `Bearer ${key}` };
  // The types of browsers know no headers.
  const init = { headers: { ...credentials, ...headers } } as unknown as string[];
  const socket = new WebSocket(gateway.url.replace(/^http/, "ws") + path, init);
  const client = new Client(socket);
  await client.opened;
  return client;
}

class Client implements SocketClient {
  readonly frames: Frame[] = [];
  readonly closed: Promise<Closed>;
  readonly opened: Promise<void>;
  private read = 0;
  private change = Promise.withResolvers<void>();
  private isClosed = false;

  constructor(private readonly socket: WebSocket) {
    socket.addEventListener("message", ({ data }) => {
      this.frames.push(JSON.parse(String(data)));
      this.tell();
    });
    this.closed = new Promise((resolve) =>
      socket.addEventListener("close", ({ code, reason }) => {
        this.isClosed = true;
        this.tell();
        resolve({ code, reason });
      }),
    );
    this.opened = new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", (event) => reject(new Error((event as ErrorEvent).message)));
    });
  }

  send(frame: unknown): void {
    const isRaw = typeof frame === "string" || frame instanceof Uint8Array;
    this.socket.send(isRaw ? (frame as string) : JSON.stringify(frame));
  }

  async next(): Promise<Frame> {
    while (this.frames.length <= this.read) {
      if (this.isClosed) throw new Error("the connection has ended");
      await this.change.promise;
    }
    return this.frames[this.read++] as Frame;
  }

  async readTurn(): Promise<readonly Frame[]> {
    const turn: Frame[] = [];
    do turn.push(await this.next());
    while (!LAST.has(turn.at(-1)?.["type"]));
    return turn;
  }

  turn(fields: object): Promise<readonly Frame[]> {
    this.send({ type: "response.create", ...fields });
    return this.readTurn();
  }

  async ask(fields: object): Promise<Frame> {
    return (await this.turn(fields)).at(-1) as Frame;
  }

  close(): Promise<Closed> {
    this.socket.close();
    return this.closed;
  }

  private tell(): void {
    this.change.resolve();
    this.change = Promise.withResolvers();
  }
}

/** Headers that ask for an upgrade, for requests that expect an error instead. */
export const UPGRADE: Readonly<Record<string, string>> = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Opens a WebSocket on a raw connection, which can stop reading and sends no pongs by itself. */
export async function openRawSocket({ url, key }: Reached): Promise<RawClient> {
  const client = await dialRaw({ url });
  const lines = Object.entries({ host: new URL(url).host, authorization: `Bearer ${key}`, ...UPGRADE });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  client.send(`GET /v1/responses HTTP/1.1\r\n${head}\r\n`);
  await client.waitForText("101 Switching Protocols");
  return client;
}

const TEXT = 0x81;
const MASKED = 0x80;
const TWO_BYTES = 126;
const ONE_BYTE_MAX = 125;

/** Returns a frame of a client as bytes: masked with zeros, and shorter than 64 kB. */
export function encodeFrame(frame: unknown): Uint8Array {
  const payload = Buffer.from(JSON.stringify(frame));
  const length =
    payload.length <= ONE_BYTE_MAX
      ? [payload.length | MASKED]
      : [TWO_BYTES | MASKED, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([TEXT, ...length, 0, 0, 0, 0]), payload]);
}
