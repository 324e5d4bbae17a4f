import type { Socket } from "bun";
import type { TestGateway } from "./gateway.ts";

/** Clients are watched over once their answers are so slow (docs/contract.md). Milliseconds. */
export const WATCHED_MS = 20;

/** A client on a socket of its own, which reads only when it is told to. */
export interface RawClient {
  /** What has come, head and all, as text. */
  readonly received: string;
  readonly receivedBytes: number;
  /** Waits until what has come contains `text`. Rejects when the connection closes before that. */
  sees(text: string): Promise<void>;
  /** Sends more, as it stands. */
  send(text: string): void;
  /** Stops reading; the system's buffers fill up. */
  pause(): void;
  resume(): void;
  /** Closes the connection in the middle of things. */
  leave(): void;
  /** Settles when the connection is gone. */
  readonly closed: Promise<void>;
}

/** Posts a chat completion by hand. */
export async function openRawChat(
  gateway: Pick<TestGateway, "url" | "key">,
  body: unknown,
): Promise<RawClient> {
  const text = JSON.stringify(body);
  const client = await dialRaw(gateway);
  client.send(rawChatHead(gateway, `content-length: ${Buffer.byteLength(text)}`) + text);
  return client;
}

/** The head of a chat completion that is posted by hand, with the lines that say how its body is framed. */
export function rawChatHead({ url, key }: Pick<TestGateway, "url" | "key">, ...framing: string[]): string {
  const lines = [
    "POST /api/gateway/chat/completions HTTP/1.1",
    `host: ${new URL(url).host}`,
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    ...framing,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Connects, and sends nothing yet. */
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

  async sees(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.isGone) throw new Error(`the connection closed before ${JSON.stringify(text)} had come`);
      await this.change.promise;
    }
  }

  send(text: string): void {
    this.unsent = Buffer.concat([this.unsent, Buffer.from(text, "utf8")]);
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

  leave(): void {
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
