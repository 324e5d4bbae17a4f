import type { Api } from "./api.ts";
import type { Plan } from "./upstream.ts";

/** A client API, as a client without a library uses it. */
export interface ClientApi {
  readonly name: string;
  readonly operation: string;
  readonly body: (text: string, model: string) => Readonly<Record<string, unknown>>;
}

/** The client APIs that every version has. */
export const CLIENT_APIS: readonly ClientApi[] = [
  {
    name: "chat completions",
    operation: "POST /api/gateway/chat/completions",
    body: (content, model) => ({ model, max_tokens: 50, messages: [{ role: "user", content }] }),
  },
  {
    name: "messages",
    operation: "POST /api/gateway/messages",
    body: (content, model) => ({ model, max_tokens: 50, messages: [{ role: "user", content }] }),
  },
  {
    name: "responses",
    operation: "POST /api/gateway/responses",
    body: (input, model) => ({ model, max_output_tokens: 50, input }),
  },
];

/** One request of a client. */
export interface Question {
  readonly client: ClientApi;
  readonly key: string;
  readonly plan: Plan;
  readonly isStream: boolean;
  /** `acme/one` by default. */
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the client disconnects after the first bytes. */
  readonly leaves?: boolean;
}

/** What a client has seen. */
export interface Seen {
  readonly status: number;
  readonly generationId: string | null;
  /** Empty if the client has left or the connection broke. */
  readonly text: string;
  /** Whether the connection broke. */
  readonly isBroken: boolean;
}

/** Sends a request and reads its answer. A connection that breaks is a result. */
export async function ask(
  api: Pick<Api, "called"> & { readonly url: string },
  question: Question,
): Promise<Seen> {
  const { client, key, plan, isStream, model = "acme/one", headers = {}, leaves = false } = question;
  api.called.add(client.operation);
  const leaving = new AbortController();
  const path = client.operation.split(" ")[1] as string;
  const response = await fetch(api.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...client.body(`${plan} please`, model), stream: isStream }),
    signal: leaving.signal,
  });
  const head = { status: response.status, generationId: response.headers.get("x-gateway-generation-id") };
  try {
    if (!leaves) return { ...head, text: await response.text(), isBroken: false };
    await response.body?.getReader().read();
    leaving.abort();
    return { ...head, text: "", isBroken: false };
  } catch {
    return { ...head, text: "", isBroken: true };
  }
}
