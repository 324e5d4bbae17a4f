import { fail } from "../../base/failures/errors.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ProviderKey, ServedProvider } from "../deployments/served-provider.ts";
import { type Exchange, TransportError } from "../deployments/transport.ts";
import { readBody } from "../generation/attempt/read-body.ts";
import { redact } from "../generation/memory/redact.ts";

/** A model in the list of a host. */
export interface HostModel {
  /** Its name at the host. */
  readonly id: string;
  /** Context window in tokens; null if the host does not say. */
  readonly contextLength: number | null;
}

/** How long a host may take. Milliseconds. */
const LIST_MS = 15_000;
/** The largest list. Bytes. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_MODELS = 5_000;
/** The part of an error of the host that is shown. Characters. */
const SHOWN_CHARS = 300;

/** The last segments of the URLs of conversations, instead of which hosts have `models`. */
const CONVERSATION = /\/(chat\/completions|responses|messages)$/;

/** Members in which hosts list the context window: vLLM, OpenRouter, LM Studio, Mistral. */
const WINDOWS = [
  "max_model_len",
  "context_length",
  "max_context_length",
  "context_window",
  "max_input_tokens",
];

/**
 * Asks a host which models it serves.
 * @throws GatewayError `invalid_request` if its API has no list, or it answers with something else; `bad_gateway` if it cannot be reached.
 */
export async function listHostModels(
  { record, formats, transport }: ServedProvider,
  key: ProviderKey,
  clock: Clock,
): Promise<readonly HostModel[]> {
  const url = formats.map((format) => findListUrl(key, format)).find((found) => found !== null);
  if (url === undefined)
    return fail(
      "invalid_request",
      `The API of ${record.name} has no list of models. Add the models by their names.`,
    );
  const format = formats[0] as (typeof formats)[number];
  const unsigned = {
    url,
    body: Buffer.alloc(0),
    headers: { ...key.address.headersFor(format), ...key.headers },
  };
  const timer = new AbortController();
  let exchange: Exchange | null = null;
  const deadline = clock.after(LIST_MS, () => {
    timer.abort();
    exchange?.cancel();
  });
  try {
    const signed = await key.address.authorize({ ...unsigned, secret: key.secret });
    exchange = transport.open({
      ...{ url, method: "GET", body: null, connectTimeoutMs: LIST_MS },
      headers: { accept: "application/json", ...unsigned.headers, ...signed },
    });
    const response = await exchange.response;
    const text = new TextDecoder().decode(await readBody(response, MAX_BYTES, "reject"));
    if (response.status !== 200) return rejectStatus(record.name, response.status, redact(text, key.secret));
    return readModels(record.name, text);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const why = timer.signal.aborted ? `it did not answer within ${LIST_MS / 1_000} seconds` : error.message;
    return fail("upstream_error", `${record.name} cannot be reached at ${url.origin}: ${why}.`);
  } finally {
    deadline.cancel();
    exchange?.cancel();
  }
}

function findListUrl({ address }: ProviderKey, format: ServedProvider["formats"][number]): URL | null {
  const url = address.urlFor({ format, action: "chat", model: "any", stream: false });
  if (url === null || !CONVERSATION.test(url.pathname)) return null;
  const list = new URL(url);
  list.pathname = url.pathname.replace(CONVERSATION, "/models");
  return list;
}

function rejectStatus(name: string, status: number, text: string): never {
  return fail("invalid_request", `${name} answered with status ${status}: ${text.slice(0, SHOWN_CHARS)}`);
}

function readModels(name: string, text: string): readonly HostModel[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = null;
  }
  const { data, models } = (parsed ?? {}) as { readonly data?: unknown; readonly models?: unknown };
  const list = [parsed, data, models].find(Array.isArray) as readonly unknown[] | undefined;
  if (list === undefined) return fail("invalid_request", `${name} did not answer with a list of models.`);
  return list.slice(0, MAX_MODELS).flatMap(readModel);
}

function readModel(item: unknown): readonly HostModel[] {
  if (typeof item !== "object" || item === null) return [];
  const fields = item as Readonly<Record<string, unknown>>;
  const id = [fields["id"], fields["name"]].find((value) => typeof value === "string" && value !== "");
  const window = WINDOWS.map((field) => fields[field]).find((value) => Number.isSafeInteger(value));
  return typeof id === "string" ? [{ id, contextLength: (window as number | undefined) ?? null }] : [];
}
