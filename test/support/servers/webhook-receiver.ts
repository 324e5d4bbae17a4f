import { createHmac } from "node:crypto";

/** A request that a receiver has got. */
export interface ReceivedEvent {
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read what they expect.
  readonly body: any;
}

/** A receiver of webhooks on a free port. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: ReceivedEvent[];
  /** Answers the next requests, one each, instead of 204. A promise delays its answer. */
  readonly answers: (Response | Promise<Response>)[];
  stop(): Promise<void>;
}

export function startWebhookReceiver(): WebhookReceiver {
  const received: ReceivedEvent[] = [];
  const answers: (Response | Promise<Response>)[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const text = await request.text();
      received.push({ headers: request.headers, text, body: JSON.parse(text) });
      return answers.shift() ?? new Response(null, { status: 204 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    received,
    answers,
    stop: () => server.stop(true),
  };
}

/** Verifies a signature as docs/webhooks.md tells a receiver to. */
export function isSigned({ headers, text }: ReceivedEvent, secret: string): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers.get("x-gateway-signature") ?? "");
  return match?.[2] === createHmac("sha256", secret).update(`${match?.[1]}.${text}`).digest("hex");
}
