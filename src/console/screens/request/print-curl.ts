/** What a request must say of itself to be sent again. */
interface SentRequest {
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
  moderations: ["moderations", { input: "Hello!" }],
  rerank: ["rerank", { query: "Which is a fruit?", documents: ["An apple.", "A stone."] }],
  images: ["images/generations", { prompt: "A small boat." }],
  speech: ["audio/speech", { input: "Hello!", voice: "alloy" }],
};

/** The client APIs that stream without being asked to. */
const ALWAYS_STREAMED: ReadonlySet<string> = new Set(["speech"]);

/**
 * Returns a curl command that sends a request of the same kind: client API, model and streaming. What the client wrote is not
 * recorded, so an example takes its place.
 */
export function printCurl({ api, requested_model, streamed }: SentRequest, baseUrl: string): string {
  const authorization = '  -H "Authorization: Bearer $GATEWAY_API_KEY"';
  if (api === "transcriptions") {
    const url = quote(`${baseUrl}/api/gateway/audio/transcriptions`);
    const fields = [`model=${requested_model}`, "file=@speech.mp3", ...(streamed ? ["stream=true"] : [])];
    return [`curl ${url}`, authorization, ...fields.map((field) => `  -F ${quote(field)}`)].join(" \\\n");
  }
  const [path, content] = APIS[api] ?? (APIS["chat.completions"] as (typeof APIS)[string]);
  const isAsked = streamed && !ALWAYS_STREAMED.has(api);
  const body = { model: requested_model, ...content, ...(isAsked ? { stream: true } : {}) };
  return [
    `curl ${quote(`${baseUrl}/api/gateway/${path}`)}`,
    authorization,
    '  -H "Content-Type: application/json"',
    `  -d ${quote(JSON.stringify(body))}`,
  ].join(" \\\n");
}

/** Quotes a text for a shell. */
function quote(value: string): string {
  return /^[\w:/.-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
