import { openSocket, type SocketClient } from "../support/clients/socket-client.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";

/** An item of an input or an output. */
// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
export type Item = Readonly<Record<string, any>>;

/** A response at its end. `failed` if its vendor broke off. */
export interface SessionResponse {
  readonly id: string;
  readonly status: string;
  readonly previous_response_id: string | null;
  readonly store: boolean;
  readonly output: readonly Item[];
}

/** A client of a session, which may send each request to another gateway. */
export interface SessionClient {
  /** Whether an `Idempotency-Key` repeats an answer: not over a WebSocket. */
  readonly canRepeat: boolean;
  ask(gateway: TestGateway, body: Item, headers?: Readonly<Record<string, string>>): Promise<SessionResponse>;
  close(): Promise<void>;
}

/** Sends requests over HTTP. */
export function createHttpClient(key: string): SessionClient {
  return {
    canRepeat: true,
    async ask(gateway, body, headers = {}) {
      const response = await fetch(`${gateway.base}/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      if (body["stream"] !== true) return JSON.parse(text);
      const last = text.trimEnd().split("\n\n").at(-2) ?? "";
      return JSON.parse(last.slice(last.indexOf("data: ") + "data: ".length)).response;
    },
    async close() {},
  };
}

/** Sends requests over one WebSocket to each gateway. */
export function createSocketClient(key: string): SessionClient {
  const sockets = new Map<string, Promise<SocketClient>>();
  return {
    canRepeat: false,
    async ask(gateway, { stream: _, ...body }) {
      const opened = sockets.get(gateway.url) ?? openSocket({ url: gateway.url, key });
      sockets.set(gateway.url, opened);
      const last = await (await opened).ask(body);
      if (last["type"] === "error") throw new Error(JSON.stringify(last));
      return last["response"];
    },
    async close() {
      for (const opened of sockets.values()) await (await opened).close();
    },
  };
}
