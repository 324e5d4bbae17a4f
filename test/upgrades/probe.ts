import type { Api } from "./api.ts";
import { ask, CLIENT_APIS, type ClientApi } from "./requests.ts";
import type { Upstream } from "./upstream.ts";
import { REPEATABLE, STORED_MODEL, type WrittenData } from "./write-data.ts";

/** The result of a request: its status, the type of its error, and the credentials that the vendor received. */
interface Outcome {
  readonly status: number;
  readonly errorType: string | null;
  readonly credentials: readonly string[];
}

const [CHAT] = CLIENT_APIS as readonly [ClientApi];
/** A request more than the strictest rate limit admits. */
const TIMES = 3;

/**
 * Sends requests with every key, for models that its policy admits and others, by names of routes and tiers, and repeats a stored
 * request. Two versions on the same data must answer them alike.
 */
export async function probe(
  api: Api,
  earlier: Api,
  data: WrittenData,
  upstream: Upstream,
): Promise<ReadonlyMap<string, unknown>> {
  const outcomes = new Map<string, unknown>();
  const send = async (name: string, key: string, model: string): Promise<void> => {
    const calls = upstream.credentials.length;
    const { status, body } = await api.call(CHAT.operation, [], {
      key,
      body: CHAT.body("ANSWER please", model),
    });
    const { error_type = null } = body as { readonly error_type?: string };
    const credentials = upstream.credentials.slice(calls);
    outcomes.set(name, { status, errorType: error_type, credentials } satisfies Outcome);
  };
  for (const { name, secret } of data.inferenceKeys) {
    for (let time = 1; time <= TIMES; time++)
      await send(`request ${time} of ${name} key`, secret, "acme/one");
    for (const model of ["acme/two", "acme/denied", "acme/unknown"])
      await send(`a request for ${model} of ${name} key`, secret, model);
  }
  const user = data.inferenceKeys[1]?.secret ?? "";
  if (earlier.has("PUT /api/admin/named-routes/{name}"))
    for (const model of ["first-choice", "split", "@brief", "unused"])
      await send(`a request for ${model}`, user, model);
  if (earlier.has("PUT /api/admin/tiers/{id}")) await send("a request for a tier", user, "gateway-auto/ours");
  if (earlier.has("PATCH /api/admin/config")) await send("a request for a stored model", user, STORED_MODEL);
  const again = { "idempotency-key": REPEATABLE.id };
  const calls = upstream.credentials.length;
  const { status: answered } = await ask(api, {
    client: CHAT,
    key: user,
    plan: "ANSWER",
    isStream: false,
    headers: again,
  });
  outcomes.set("a repeated generation", { status: answered, calls: upstream.credentials.length - calls });
  const { status, body, headers } = await api.call("POST /api/admin/users", [], {
    body: REPEATABLE.body,
    headers: again,
  });
  const { data: made } = body as { readonly data?: { readonly id?: string } };
  outcomes.set("a repeated request", { status, id: made?.id, replayed: headers.get("idempotent-replayed") });
  return outcomes;
}
