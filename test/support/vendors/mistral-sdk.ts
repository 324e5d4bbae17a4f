/** The part of `@mistralai/mistralai` that tests use. Its own types redeclare the runtime's streams, so they are not loaded. */
export interface MistralClient {
  readonly chat: MistralEndpoint;
  readonly fim: MistralEndpoint;
}

interface MistralEndpoint {
  complete(request: object): Promise<MistralAnswer>;
  stream(request: object): Promise<AsyncIterable<{ readonly data: MistralChunk }>>;
}

interface MistralAnswer {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly {
    readonly message: MistralMessage;
    readonly finishReason: string;
  }[];
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number };
}

interface MistralMessage {
  readonly content?: unknown;
  readonly toolCalls?: readonly MistralCall[] | null;
}

interface MistralCall {
  readonly index?: number;
  readonly function: { readonly name: string; readonly arguments: unknown };
}

interface MistralChunk {
  readonly choices: readonly {
    readonly index: number;
    readonly delta: MistralMessage;
    readonly finishReason: string | null;
  }[];
  readonly usage?: MistralAnswer["usage"];
}

interface MistralOptions {
  readonly apiKey: string;
  readonly serverURL: string;
  /** Replaces `fetch`. */
  readonly fetcher?: (...request: Parameters<typeof fetch>) => Promise<Response>;
}

/** Loads Mistral's official client. */
export async function openMistral({ fetcher, ...options }: MistralOptions): Promise<MistralClient> {
  const name: string = "@mistralai/mistralai";
  const [{ Mistral }, { HTTPClient }] = await Promise.all([import(name), import(`${name}/lib/http.js`)]);
  return new Mistral(
    fetcher === undefined ? options : { ...options, httpClient: new HTTPClient({ fetcher }) },
  );
}
