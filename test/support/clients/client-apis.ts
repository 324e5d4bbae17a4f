/** A client API for tests: the same question in the API's own format. */
export interface AskableApi {
  readonly name: string;
  readonly path: string;
  /** The model that serves it at the vendor of `yamlForAllApis`. */
  readonly model: string;
  body(model: string, more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Returns type and message of an error of this API. */
  readError(answer: unknown): { readonly type: unknown; readonly message: string };
}

type ErrorBody = {
  readonly error: { readonly type: string; readonly code: unknown; readonly message: string };
};

const openaiError: AskableApi["readError"] = (answer) => (answer as ErrorBody).error;
const messages = [{ role: "user", content: "Hello!" }];

export const CLIENT_APIS: readonly AskableApi[] = [
  {
    name: "chat completions",
    path: "/chat/completions",
    model: "acme/model",
    body: (model, more) => ({ model, messages, ...more }),
    readError: openaiError,
  },
  {
    name: "responses",
    path: "/responses",
    model: "acme/model",
    body: (model, more) => ({ model, input: "Hello!", ...more }),
    // OpenAI's error code, which clients of this API evaluate.
    readError: (answer) => {
      const { code, message } = (answer as ErrorBody).error;
      return { type: code, message };
    },
  },
  {
    name: "messages",
    path: "/messages",
    model: "acme/model",
    body: (model, more) => ({ model, max_tokens: 50, messages, ...more }),
    readError: openaiError,
  },
  {
    name: "embeddings",
    path: "/embeddings",
    model: "acme/embed",
    body: (model, more) => ({ model, input: "Hello!", ...more }),
    readError: openaiError,
  },
  {
    name: "fill in the middle",
    path: "/fim/completions",
    model: "mistralai/code",
    body: (model, more) => ({ model, prompt: "def f(", ...more }),
    readError: openaiError,
  },
  {
    name: "text completions",
    path: "/completions",
    model: "acme/model",
    body: (model, more) => ({ model, prompt: "Hello!", ...more }),
    readError: openaiError,
  },
];

/**
 * Returns the configuration of a gateway whose vendor at `baseUrl` serves a model for each API. `more` precedes
 * it.
 */
export function yamlForAllApis(baseUrl: string, more = ""): string {
  return `${more}
providers:
  mistral:
    base_url: ${baseUrl}
    api_keys: [sk-mistral-0123456789]
    models: [{id: mistralai/code, name: up-code}]
  vendor:
    base_url: ${baseUrl}
    api_keys: [sk-vendor-0123456789]
    models:
      - {id: acme/model, name: up-model}
      - {id: acme/embed, name: up-embed, output: embedding}
`;
}
