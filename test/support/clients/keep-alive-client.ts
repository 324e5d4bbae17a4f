import type { Socket } from "bun";

/** A response as a client on a kept connection sees it. */
export interface KeptResponse {
  readonly status: number;
  /** Whether the response has `Connection: close`. */
  readonly closes: boolean;
}

/** An HTTP/1.1 client that sends one request after the other on one connection. */
export interface KeepAliveClient {
  /** Sends a request and resolves with its complete response. Rejects if the connection is closed before that. */
  ask(request: string): Promise<KeptResponse>;
  close(): void;
}

/** Connects a client. Rejects if the connection is refused. */
export async function connectKeepAlive(url: string): Promise<KeepAliveClient> {
  const { hostname, port } = new URL(url);
  let received = "";
  let isClosed = false;
  let waiting: PromiseWithResolvers<KeptResponse> | null = null;
  const fail = (): void => {
    isClosed = true;
    waiting?.reject(new Error(`closed after ${JSON.stringify(received.slice(0, 80))}`));
  };
  const socket: Socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, piece) {
        received += piece.toString("latin1");
        const response = parseResponse(received);
        if (response === null) return;
        received = "";
        waiting?.resolve(response);
      },
      close: fail,
      error: fail,
    },
  });
  return {
    ask(request) {
      waiting = Promise.withResolvers();
      if (isClosed || socket.write(request) < request.length) fail();
      return waiting.promise;
    },
    close: () => socket.end(),
  };
}

/** Returns the response if `text` is a complete one, else null. */
function parseResponse(text: string): KeptResponse | null {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const head = text.slice(0, headEnd).toLowerCase();
  const body = text.slice(headEnd + 4);
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  const isComplete = length === undefined ? body.endsWith("0\r\n\r\n") : body.length >= Number(length);
  if (!isComplete) return null;
  return { status: Number(head.slice(9, 12)), closes: head.includes("\r\nconnection: close") };
}
