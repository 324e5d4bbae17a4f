import type { Payer } from "../books/asked.ts";
import { callAdmin } from "../support/gateway/management.ts";

/** The management key of the cluster. */
export const ADMIN_KEY = "cluster-management-key-0123456789";

/** A key to send requests with, and what may reject its requests. */
export interface ClusterPayer extends Payer {
  /** Whether the account or the limit can be used up, so that 402 is right at some time. */
  readonly canRunOut: boolean;
  readonly requestsPerMinute: number | null;
  readonly concurrent: number | null;
}

/** The payers of a run. */
export interface ClusterPayers {
  /** Those that clients send requests for. */
  readonly current: readonly ClusterPayer[];
  /** All that there were. */
  readonly all: readonly ClusterPayer[];
  /** The account with a small balance, which is topped up now and then. */
  readonly poor: ClusterPayer;
  /** Replaces the payers with a spending limit by new ones, of which nothing is spent. Rejects if a gateway does not confirm it. */
  renewLimited(): Promise<void>;
}

const AMPLE = "900";
const SMALL = "0.01";
const KEY_LIMIT = 0.15;
const MEMBER_LIMIT = 0.12;
const MONTHLY_LIMIT = 0.1;
const REQUESTS_PER_MINUTE = 240;
const CONCURRENT = 2;

interface Wanted {
  readonly account: string;
  /** Fields of the key. */
  readonly key?: Readonly<Record<string, unknown>>;
  /** In dollars. */
  readonly limit?: number;
  readonly canRunOut?: true;
  readonly requestsPerMinute?: number;
  readonly concurrent?: number;
}

/** Creates accounts and keys with every kind of limit through the management API of the gateway at `url`. */
export async function createPayers(url: string): Promise<ClusterPayers> {
  const ample = await createUser(url, "ample", AMPLE);
  const small = await createUser(url, "small", SMALL);
  const poor = await createPayer(url, "a prepaid user who runs out of credit", {
    account: small,
    canRunOut: true,
  });
  const current = [
    poor,
    await createPayer(url, "the operator", { account: "acct_default" }),
    await createPayer(url, "a prepaid user", { account: ample }),
    ...(await createLimited(url, ample)),
    await createPayer(url, "a key with a limit of requests", {
      account: ample,
      requestsPerMinute: REQUESTS_PER_MINUTE,
      key: { rate_limit: { requests_per_minute: REQUESTS_PER_MINUTE } },
    }),
    await createPayer(url, "a key with a limit of concurrent requests", {
      account: ample,
      concurrent: CONCURRENT,
      key: { rate_limit: { concurrent: CONCURRENT } },
    }),
  ];
  const all = [...current];
  return {
    current,
    all,
    poor,
    async renewLimited() {
      const limited = await createLimited(url, ample);
      all.push(...limited);
      const first = current.findIndex(({ limit }) => limit !== null);
      current.splice(first, limited.length, ...limited);
    },
  };
}

/** Creates a payer with each kind of spending limit, next to each other. `ample` is a user. */
async function createLimited(url: string, ample: string): Promise<ClusterPayer[]> {
  const daily = await createOrganization(url, "daily", { owner: ample });
  const monthly = await createOrganization(url, "monthly", { monthly_limit: MONTHLY_LIMIT });
  await manage(url, "PUT", `/organizations/${daily}/members/${ample}`, {
    role: "owner",
    daily_limit: MEMBER_LIMIT,
  });
  return [
    await createPayer(url, "a key with a spending limit", {
      account: ample,
      limit: KEY_LIMIT,
      key: { spend_limit: KEY_LIMIT },
    }),
    await createPayer(url, "a member with a daily limit", {
      account: daily,
      limit: MEMBER_LIMIT,
      key: { user_id: ample },
    }),
    await createPayer(url, "an organization with a monthly limit", {
      account: monthly,
      limit: MONTHLY_LIMIT,
    }),
  ];
}

async function createPayer(url: string, name: string, wanted: Wanted): Promise<ClusterPayer> {
  const { account, key = {}, limit = null, requestsPerMinute = null, concurrent = null } = wanted;
  const answer = await manage(url, "POST", "/keys", { name, account_id: account, ...key });
  return {
    name,
    secret: answer["key"] as string,
    keyId: (answer["data"] as { id: string }).id,
    accountId: account,
    limit: limit === null ? null : Math.round(limit * 1e9),
    canRunOut: limit !== null || wanted.canRunOut === true,
    requestsPerMinute,
    concurrent,
  };
}

/** Creates a user with credits. Returns its id. */
async function createUser(url: string, name: string, dollars: string): Promise<string> {
  return withCredits(url, await manage(url, "POST", "/users", { name }), dollars);
}

/** Creates an organization with ample credits. Returns its id. */
async function createOrganization(url: string, name: string, fields: object): Promise<string> {
  return withCredits(url, await manage(url, "POST", "/organizations", { name, ...fields }), AMPLE);
}

async function withCredits(
  url: string,
  answer: Readonly<Record<string, unknown>>,
  dollars: string,
): Promise<string> {
  const { id } = answer["data"] as { id: string };
  await grant({ url, id: `first_${id}`, accountId: id, dollars });
  return id;
}

/** A grant, which may be sent again with the same id. */
export interface Grant {
  readonly url: string;
  readonly id: string;
  readonly accountId: string;
  readonly dollars: string;
}

/** Adds credits to an account. Rejects if no gateway confirms it. */
export async function grant({ url, id, accountId, dollars }: Grant): Promise<void> {
  await manage(url, "POST", `/accounts/${accountId}/credits`, { id, amount: dollars });
}

/** Returns the body of a response of the management API. Rejects unless it is a success. */
export async function manage(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await callAdmin({ url }, ADMIN_KEY, method, path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
