import type { Socket } from "bun";
import type { TestGateway } from "../gateway/gateway.ts";

/** The delay until the gateway subscribes to a client's abort signal. Milliseconds. */
export const ABORT_WATCH_DELAY_MS = 20;

/** A client on its own socket that can stop reading. */
export interface RawClient {
  /** Everything received, including the head, as text. */
  readonly received: string;
  readonly receivedBytes: number;
  /** Waits until `text` has been received. Rejects if the connection closes before that. */
  waitForText(text: string): Promise<void>;
  /** Sends text unchanged. */
  send(text: string): void;
  /** Sends bytes unchanged. */
  sendBytes(bytes: Uint8Array): void;
  /** Stops reading, so that the system's buffers fill up. */
  pause(): void;
  resume(): void;
  /** Closes the connection abruptly. */
  disconnect(): void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

/** What a client on its own socket needs to send a request. */
type Reached = Pick<TestGateway, "url" | "key">;

/** Posts a chat completion on a raw socket. */
export function postRawChat(gateway: Reached, body: unknown): Promise<RawClient> {
  return postRaw(gateway, CHAT_PATH, body);
}

/** Posts JSON to a path below `/api/gateway` on a raw socket. */
export async function postRaw(gateway: Reached, path: string, body: unknown): Promise<RawClient> {
  const text = JSON.stringify(body);
  const client = await dialRaw(gateway);
  client.send(encodeHead(gateway, path, [`content-length: ${Buffer.byteLength(text)}`]) + text);
  return client;
}

const CHAT_PATH = "/chat/completions";

/** Returns the head of a chat completion request, with the lines that frame its body. */
export function encodeChatHead(gateway: Reached, ...framing: string[]): string {
  return encodeHead(gateway, CHAT_PATH, framing);
}

function encodeHead({ url, key }: Reached, path: string, framing: readonly string[]): string {
  const lines = [
    `POST /api/gateway${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    ...framing,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Connects without sending anything. */
export async function dialRaw(gateway: Pick<TestGateway, "url">): Promise<RawClient> {
  const { hostname, port } = new URL(gateway.url);
  const client = new SocketClient();
  const socket = await Bun.connect<SocketClient>({
    hostname,
    port: Number(port),
    data: client,
    socket: {
      data: (_, piece) => client.take(piece),
      drain: () => client.flush(),
      close: () => client.gone(),
      error: () => client.gone(),
    },
  });
  client.socket = socket;
  return client;
}

class SocketClient implements RawClient {
  received = "";
  receivedBytes = 0;
  socket!: Socket<SocketClient>;
  private readonly ending = Promise.withResolvers<void>();
  private change = Promise.withResolvers<void>();
  private isGone = false;
  private unsent = Buffer.alloc(0);

  get closed(): Promise<void> {
    return this.ending.promise;
  }

  async waitForText(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.isGone)
        throw new Error(
          `the connection closed before ${JSON.stringify(text)} had come, after ${JSON.stringify(this.received.slice(-500))}`,
        );
      await this.change.promise;
    }
  }

  send(text: string): void {
    this.sendBytes(Buffer.from(text, "utf8"));
  }

  sendBytes(bytes: Uint8Array): void {
    this.unsent = Buffer.concat([this.unsent, bytes]);
    this.flush();
  }

  flush(): void {
    const sent = Math.max(0, this.socket.write(this.unsent));
    this.unsent = this.unsent.subarray(sent);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  disconnect(): void {
    this.socket.terminate();
  }

  take(piece: Uint8Array): void {
    this.received += Buffer.from(piece).toString("latin1");
    this.receivedBytes += piece.length;
    this.tell();
  }

  gone(): void {
    this.isGone = true;
    this.ending.resolve();
    this.tell();
  }

  private tell(): void {
    this.change.resolve();
    this.change = Promise.withResolvers();
  }
}
