import { GATEWAY_ROUTES } from "../../src/http/server/route-table.ts";
import { serve } from "../../src/http/server/server.ts";
import type { Service } from "./service.ts";

/** The request of a simulated client. */
export interface ClientRequest {
  readonly secret: string;
  readonly path: "/chat/completions" | "/messages" | "/responses" | "/conversations";
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  readonly prompt: string;
  /** Fields about kept responses; null for a request without. */
  readonly state: Readonly<Record<string, unknown>> | null;
}

/** Returns the body of a request. */
function describeBody({ path, model, stream, maxTokens, prompt, state }: ClientRequest): object {
  switch (path) {
    case "/conversations":
      return {};
    case "/responses": {
      const bound = maxTokens === null ? {} : { max_output_tokens: maxTokens };
      return { model, stream, ...bound, input: prompt, ...state };
    }
    default: {
      const bound = maxTokens === null ? {} : { max_tokens: maxTokens };
      return { model, stream, ...bound, messages: [{ role: "user", content: prompt }] };
    }
  }
}

/** One request and what its client sees of the answer. */
export class SimulatedClient {
  status: number | null = null;
  generationId: string | null = null;
  /** The answer's text so far. */
  text = "";
  /** The answer has ended, completely or not. */
  isOver = false;
  hasLeft = false;
  private readonly leaving = new AbortController();

  constructor(
    private readonly service: Service,
    readonly request: ClientRequest,
  ) {
    this.send().catch((error) => {
      this.text += `\n${error}`;
      this.isOver = true;
    });
  }

  /** Whether the answer was received completely. */
  get isWhole(): boolean {
    if (!this.isOver || this.status !== 200) return false;
    const { path, stream, state } = this.request;
    if (path === "/conversations") return false;
    // A background response without a stream is only announced.
    if (!stream) return this.text.endsWith("}") && state?.["background"] !== true;
    switch (path) {
      case "/messages":
        return this.text.includes('"type":"message_stop"');
      case "/responses":
        return /^event: response\.(completed|incomplete)$/m.test(this.text) && !CANCELLED.test(this.text);
      default:
        return this.text.endsWith("data: [DONE]\n\n");
    }
  }

  /** The name that the vendor gave the answer; null before it is known. */
  get answerName(): string | null {
    return /<\d+>/.exec(this.text)?.[0] ?? null;
  }

  leave(): void {
    this.hasLeft = true;
    this.isOver = true;
    this.leaving.abort();
  }

  private async send(): Promise<void> {
    const { path, secret } = this.request;
    const body = JSON.stringify(describeBody(this.request));
    const httpRequest = new Request(`http://gateway${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "content-length": String(body.length),
      },
      body,
      signal: this.leaving.signal,
    });
    const methods = GATEWAY_ROUTES[path] ?? {};
    const deps = () => this.service.parts.http;
    const route = { deps, route: path, methods, isOpen: false };
    const response = await serve(route, httpRequest, CONNECTION);
    if (this.isGone()) return;
    this.status = response.status;
    this.generationId = response.headers.get("x-gateway-generation-id");
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      if (this.isGone()) return;
      this.text += Buffer.from(piece).toString("latin1");
    }
    if (!this.isGone()) this.isOver = true;
  }

  /** Whether the client has left, or the gateway was killed: nothing reaches the client any more. */
  private isGone(): boolean {
    return this.hasLeft || this.service.run.isOver;
  }
}

/** A response that was cancelled ends as incomplete as well. */
const CANCELLED = /"status":"cancelled"/;

const CONNECTION = { requestIP: () => null, timeout() {} };
