import type { Stores } from "../../src/app/stores/stores.ts";
import { createKey, type NewKey } from "../../src/core/accounts/manage/manage-keys.ts";
import {
  type AccountRecord,
  type MemberRecord,
  NO_KEY_DEFAULTS,
  OPEN_POLICY,
} from "../../src/core/accounts/records/records.ts";
import { openTestStores } from "./databases/test-stores.ts";
import type { TestGateway } from "./gateway/gateway.ts";

/** Runs `work` with a gateway's stores while the gateway runs, as the command line does. */
export async function withStoresOf<T>(
  gateway: Pick<TestGateway, "dataDir">,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const stores = await openTestStores(gateway.dataDir);
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

/** Creates an account without credits, and an inference key of it. */
export function addAccountWithKey(
  gateway: TestGateway,
  account: Partial<AccountRecord> & Pick<AccountRecord, "id">,
  key: Partial<NewKey> = {},
  member?: Pick<MemberRecord, "userId" | "dailyLimit">,
): Promise<string> {
  return withStoresOf(gateway, async (stores) => {
    await stores.accounts.insertAccount({
      kind: "user",
      name: account.id,
      overdraft: 0,
      monthlyLimit: null,
      policy: OPEN_POLICY,
      rateLimit: null,
      plan: null,
      email: null,
      externalId: null,
      createdAt: 0,
      ...NO_KEY_DEFAULTS,
      closedAt: null,
      ...account,
    });
    if (member)
      await stores.accounts.putMember({
        organizationId: account.id,
        role: "member",
        source: "manual",
        createdAt: 0,
        ...member,
      });
    const wanted = { name: "k", kind: "inference", expiresAt: null, accountId: account.id, ...key } as const;
    return (await createKey(stores, wanted)).secret;
  });
}

/** Calls the management API as the operator, with POST if there is a body. */
export async function manage(
  gateway: TestGateway,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${gateway.url}/api/admin${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Returns an account's balance and holds in nanodollars, and its grants. */
export async function balanceOf(
  gateway: TestGateway,
  accountId: string,
): Promise<{ balance: number; held: number; available: number | null; grants: Record<string, unknown>[] }> {
  const { body } = await manage(gateway, `/accounts/${accountId}/balance`);
  const data = body["data"] as Record<string, unknown>;
  return {
    balance: data["balance_nanodollars"] as number,
    held: data["held_nanodollars"] as number,
    available: data["available_nanodollars"] as number | null,
    grants: data["grants"] as Record<string, unknown>[],
  };
}

/** Returns the inconsistencies of the ledger and the current holds. Empty if no request is running. */
export async function findLedgerProblems(gateway: TestGateway): Promise<unknown[]> {
  const check = await manage(gateway, "/ledger/check");
  const holds = await manage(gateway, "/holds");
  return [...(check.body["data"] as unknown[]), ...(holds.body["data"] as unknown[])];
}
