/** A program that sends requests, as its `User-Agent` names it. */
export interface ClientProgram {
  /** One of `CLIENT_FAMILIES`. */
  readonly family: ClientFamily;
  /** The version as sent; null if the header states none, and for `browser` and `other`. */
  readonly version: string | null;
}

/**
 * The families of clients, with the products by which a `User-Agent` names them: in lower case, without versions.
 * A product that ends with `*` also stands for every longer name. Earlier families win: an agent names the SDK that it
 * uses, and an SDK its HTTP library.
 */
const PRODUCTS = {
  "claude-code": ["claude-cli", "claude-code", "claude-vscode"],
  codex: ["codex", "codex_*", "codex-*"],
  cursor: ["cursor", "cursor-*"],
  cline: ["cline", "cline-*"],
  "kilo-code": ["kilo-code", "kilocode", "kilo", "opencode-kilo-provider"],
  "roo-code": ["roocode", "roo-code", "roo-cline"],
  opencode: ["opencode", "opencode-*"],
  continue: ["continue", "continue-*", "continuedev", "cn"],
  "qwen-code": ["qwencode", "qwen-code"],
  "gemini-cli": ["geminicli", "gemini-cli", "geminicli*"],
  copilot: ["githubcopilotchat", "github-copilot", "copilot", "copilot-*"],
  aider: ["aider", "aider-chat"],
  zed: ["zed"],
  "open-webui": ["open-webui", "openwebui"],
  librechat: ["librechat"],
  n8n: ["n8n", "n8n-*"],
  dify: ["dify", "dify-*"],
  litellm: ["litellm"],
  langchain: ["langchain", "langchain*", "langgraph*"],
  llamaindex: ["llamaindex", "llama-index", "llama_index", "llama-index-*"],
  "pydantic-ai": ["pydantic-ai"],
  "vercel-ai-sdk": ["ai", "ai-sdk", "ai-sdk/*", "ai-sdk-*"],
  "openai-python": ["openai/python", "asyncopenai/python", "azureopenai/python", "asyncazureopenai/python"],
  "openai-node": ["openai/js", "azureopenai/js"],
  "openai-go": ["openai/go"],
  "openai-java": ["openai/java", "openaiclientimpl/java", "openaiclientasyncimpl/java"],
  "openai-dotnet": ["openai/dotnet", "openai-dotnet"],
  "anthropic-python": ["anthropic/python", "asyncanthropic/python"],
  "anthropic-node": ["anthropic/js"],
  "anthropic-go": ["anthropic/go"],
  "anthropic-java": ["anthropic/java", "anthropicclientimpl/java", "anthropicclientasyncimpl/java"],
  "google-genai": ["google-genai-sdk"],
  mistral: ["mistral-client-typescript", "mistral-client-python", "mistral-client-*"],
  curl: ["curl"],
  wget: ["wget"],
  postman: ["postmanruntime", "insomnia", "bruno", "bruno-runtime"],
  "python-requests": ["python-requests"],
  "python-httpx": ["python-httpx"],
  "python-other": ["aiohttp", "python-urllib", "python-urllib3", "urllib3"],
  axios: ["axios"],
  "node-fetch": ["node-fetch", "undici", "node", "got"],
  bun: ["bun"],
  deno: ["deno"],
  "go-http": ["go-http-client"],
  java: ["java", "java-http-client", "okhttp", "apache-httpclient"],
  dotnet: [".net"],
  rust: ["reqwest", "hyper", "ureq"],
  ruby: ["ruby", "faraday"],
  php: ["php", "guzzlehttp"],
  browser: ["mozilla"],
  other: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ClientFamily = keyof typeof PRODUCTS;

/** All families: a closed list, so that it may be the label of a metric and a dimension of sums. */
export const CLIENT_FAMILIES = Object.keys(PRODUCTS) as ClientFamily[];

/** Characters of a `User-Agent` that are read. Names and versions stand at its beginning. */
export const MAX_READ = 512;
/** Characters of a version that are kept. */
export const MAX_VERSION = 32;

interface Match {
  readonly rank: number;
  readonly version: string | null;
}

/** The index of a family in the list, by product; those that end with `*` are prefixes. */
const EXACT = new Map<string, number>();
const PREFIXES: { readonly prefix: string; readonly rank: number }[] = [];
for (const [rank, family] of CLIENT_FAMILIES.entries()) {
  for (const product of PRODUCTS[family]) {
    if (product.endsWith("*")) PREFIXES.push({ prefix: product.slice(0, -1), rank });
    else if (!EXACT.has(product)) EXACT.set(product, rank);
  }
}

/** Returns the family and version of the client that a `User-Agent` names; null without one. */
export function parseClient(userAgent: string | null | undefined): ClientProgram | null {
  const tokens = withoutComments((userAgent ?? "").slice(0, MAX_READ))
    .split(" ")
    .filter(Boolean);
  if (tokens.length === 0) return null;
  let best: Match | null = null;
  for (const [index, token] of tokens.entries()) {
    const match = matchProduct(token, tokens[index + 1]);
    if (match !== null && (best === null || match.rank < best.rank)) best = match;
  }
  const family = best === null ? "other" : CLIENT_FAMILIES[best.rank]!;
  return { family, version: family === "browser" ? null : (best?.version ?? null) };
}

/** Matches one token: a product, a slash and a version, or a product whose version is the next token (`OpenAI/JS 6.49.0`). */
function matchProduct(token: string, next: string | undefined): Match | null {
  const slash = token.lastIndexOf("/");
  const rank = slash < 0 ? undefined : rankOf(token.slice(0, slash));
  if (rank !== undefined) return { rank, version: asVersion(token.slice(slash + 1)) };
  const whole = rankOf(token);
  return whole === undefined ? null : { rank: whole, version: asVersion(next) };
}

function rankOf(product: string): number | undefined {
  const name = product.toLowerCase();
  return EXACT.get(name) ?? PREFIXES.find(({ prefix }) => name.startsWith(prefix))?.rank;
}

/** Returns the text if it looks like a version: a digit, or `v` and a digit, then what versions consist of. */
function asVersion(text: string | undefined): string | null {
  const version = text?.replace(/[;,]+$/, "") ?? "";
  return version.length <= MAX_VERSION && /^v?\d[\w.+-]*$/.test(version) ? version : null;
}

/** Replaces comments, which are in parentheses and may be nested, by spaces. */
function withoutComments(text: string): string {
  let depth = 0;
  let rest = "";
  for (const char of text) {
    if (char === "(") depth++;
    if (depth === 0) rest += /\s/.test(char) ? " " : char;
    if (char === ")" && depth > 0 && --depth === 0) rest += " ";
  }
  return rest;
}
