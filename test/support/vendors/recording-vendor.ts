/** A request as the vendor received it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Empty, or beginning with the question mark. */
  readonly search: string;
  readonly headers: Headers;
  /** The body, byte for byte. */
  readonly bytes: Buffer;
  readonly text: string;
}

/** Answers a request, given the number of earlier requests. */
export type Responder = (request: RecordedRequest, index: number) => Response | Promise<Response>;

/** A vendor of the OpenAI chat format on a free port that records its requests. */
export interface RecordingVendor {
  /** The value for `base_url`. */
  readonly baseUrl: string;
  readonly requests: RecordedRequest[];
  /** The newest request. */
  last(): RecordedRequest;
  /** Discards earlier requests, and answers the next ones with `respond`; by default with "Hello there.". */
  reset(respond?: Responder): void;
  stop(): Promise<void>;
}

/** Starts a recording vendor. */
export function startRecordingVendor(): RecordingVendor {
  const requests: RecordedRequest[] = [];
  let responder: Responder = answerHello;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const bytes = Buffer.from(await request.arrayBuffer());
      const { method, headers, url } = request;
      const { pathname: path, search } = new URL(url);
      const recorded = { method, path, search, headers, bytes, text: bytes.toString("utf8") };
      requests.push(recorded);
      return responder(recorded, requests.length - 1);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    last() {
      const request = requests.at(-1);
      if (request === undefined) throw new Error("nothing has reached the vendor");
      return request;
    },
    reset(respond = answerHello) {
      requests.length = 0;
      responder = respond;
    },
    stop: () => server.stop(true),
  };
}

/**
 * Returns the configuration of a gateway that serves `acme/model` from the vendor. `more` is indented by four
 * spaces.
 */
export function yamlFor(vendor: RecordingVendor, more = ""): string {
  return `
providers:
  vendor:
    base_url: ${vendor.baseUrl}
    api_keys: [${VENDOR_KEY}]
    models:
      - id: acme/model
        name: upstream-model
      - id: acme/model:free
        name: upstream-free
${more}`;
}

export const VENDOR_KEY = "sk-vendor-0123456789abcdef";

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

/** Answers "Hello there." in chat completions, as a stream if requested. */
export function answerHello(request: RecordedRequest): Response {
  const head = { id: "chatcmpl-vendor", created: 1, model: "upstream-model" };
  if (!/"stream"\s*:\s*true/.test(request.text)) {
    const message = { role: "assistant", content: "Hello there." };
    return Response.json({
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: USAGE,
    });
  }
  const chunk = (delta: unknown, finish: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return streamOf([
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Hello" }),
    chunk({ content: " there." }),
    chunk({}, "stop"),
    { ...head, object: "chat.completion.chunk", choices: [], usage: USAGE },
  ]);
}

/** Returns an event stream of these chunks, followed by `[DONE]`. */
export function streamOf(chunks: readonly unknown[]): Response {
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}
