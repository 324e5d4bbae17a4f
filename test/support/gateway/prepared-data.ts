import { createKey } from "../../../src/core/accounts/manage/manage-keys.ts";
import { NO_KEY_DEFAULTS, OPEN_POLICY, type Policy } from "../../../src/core/accounts/records/records.ts";
import { openTestStores } from "../databases/test-stores.ts";
import { makeTempFolder } from "../temp-folder.ts";

/** An account to create, with an inference key. */
export interface PreparedAccount {
  readonly policy?: Partial<Policy>;
  /** Patterns of the models that its key may call. */
  readonly keyModels?: readonly string[];
  /** How far its balance may go below zero. Nanodollars; unlimited by default. */
  readonly overdraft?: number;
  /** The number of further keys of the account. */
  readonly moreKeys?: number;
}

/** Creates a data directory with accounts, and returns it with their keys in order. */
export async function prepareData(
  accounts: readonly PreparedAccount[],
): Promise<{ readonly dataDir: string; readonly keys: readonly (readonly string[])[] }> {
  const dataDir = makeTempFolder("gateway-test-");
  const stores = await openTestStores(dataDir);
  const keys: string[][] = [];
  for (const [index, { policy, keyModels, overdraft, moreKeys = 0 }] of accounts.entries()) {
    const id = `user_${index}`;
    await stores.accounts.insertAccount({
      id,
      kind: "user",
      name: id,
      overdraft: overdraft ?? null,
      monthlyLimit: null,
      policy: { ...OPEN_POLICY, ...policy },
      rateLimit: null,
      plan: null,
      email: null,
      externalId: null,
      createdAt: 0,
      ...NO_KEY_DEFAULTS,
      closedAt: null,
    });
    const own: string[] = [];
    for (let i = 0; i <= moreKeys; i++) {
      const wanted = { name: `key ${i}`, kind: "inference", expiresAt: null } as const;
      const { secret } = await createKey(stores, { ...wanted, accountId: id, models: keyModels ?? null });
      own.push(secret);
    }
    keys.push(own);
  }
  await stores.close();
  return { dataDir, keys };
}
