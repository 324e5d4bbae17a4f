/** What a request must say of itself to be sent again. */
export interface SentRequest {
  readonly api: string;
  readonly requested_model: string;
  readonly streamed: boolean;
}

const MESSAGES = [{ role: "user", content: "Hello!" }];

/** The path below the base URL and the content of an example request for each client API. */
const APIS: Readonly<Record<string, readonly [string, Readonly<Record<string, unknown>>]>> = {
  "chat.completions": ["chat/completions", { messages: MESSAGES }],
  messages: ["messages", { max_tokens: 1024, messages: MESSAGES }],
  responses: ["responses", { input: "Hello!" }],
  embeddings: ["embeddings", { input: "Hello!" }],
  completions: ["completions", { prompt: "Once upon a time" }],
  fim: ["fim/completions", { prompt: "def add(a, b):", suffix: "" }],
};

/**
 * Returns a curl command that sends a request of the same kind: client API, model and streaming. What the client wrote is not
 * recorded, so an example takes its place.
 */
export function printCurl({ api, requested_model, streamed }: SentRequest, baseUrl: string): string {
  const [path, content] = APIS[api] ?? (APIS["chat.completions"] as (typeof APIS)[string]);
  const body = { model: requested_model, ...content, ...(streamed ? { stream: true } : {}) };
  return [
    `curl ${quote(`${baseUrl}/api/gateway/${path}`)}`,
    '  -H "Authorization: Bearer $GATEWAY_API_KEY"',
    '  -H "Content-Type: application/json"',
    `  -d ${quote(JSON.stringify(body))}`,
  ].join(" \\\n");
}

/** Quotes a text for a shell. */
function quote(value: string): string {
  return /^[\w:/.-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
