import type { TestGateway } from "./gateway.ts";

/** An object of the API, with the fields that tests read by name. */
export interface ApiObject {
  readonly id: string;
  readonly user_id: string;
  readonly account_id: string;
  readonly role: string;
  readonly [field: string]: unknown;
}

/** A response of the management API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The whole body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** `data`, if it is one object. */
  readonly data: ApiObject;
  /** `data`, if it is a list. */
  readonly rows: readonly ApiObject[];
}

/** Calls the management API with a key; `null` sends none. `path` is relative to `/api/admin`. */
export async function callAdmin(
  gateway: Pick<TestGateway, "url">,
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> {
  const response = await fetch(`${gateway.url}/api/admin${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status } = response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) await response.body?.cancel();
  const answer = isStream ? {} : ((await response.json()) as ApiAnswer["body"]);
  const data = answer["data"];
  return {
    status,
    headers: response.headers,
    body: answer,
    data: data as ApiObject,
    rows: data as ApiObject[],
  };
}

/** Creates accounts and keys as the operator. Each function returns an id, or a secret. */
export interface AccountTools {
  user(name?: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  organization(owner?: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  member(organization: string, user: string, role: string): Promise<void>;
  /** Returns the secret of a new key. */
  key(accountId: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Creates the functions for a gateway. */
export function createAccountTools(gateway: Pick<TestGateway, "url" | "adminKey">): AccountTools {
  const make = async (method: string, path: string, body: unknown): Promise<ApiAnswer> => {
    const answer = await callAdmin(gateway, gateway.adminKey, method, path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer;
  };
  return {
    user: async (name = "Ada", more = {}) => (await make("POST", "/users", { name, ...more })).data.id,
    organization: async (owner, more = {}) =>
      (await make("POST", "/organizations", { name: "Acme", ...(owner ? { owner } : {}), ...more })).data.id,
    async member(organization, user, role) {
      await make("PUT", `/organizations/${organization}/members/${user}`, { role });
    },
    async key(accountId, more = {}) {
      const { body } = await make("POST", "/keys", { name: "test", account_id: accountId, ...more });
      return body["key"] as string;
    },
  };
}
