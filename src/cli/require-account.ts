import type { Stores } from "../app/stores.ts";
import type { AccountRecord } from "../core/accounts/records.ts";

/** Returns the account with an ID. @throws Error if there is none. */
export async function requireAccount({ accounts }: Stores, id: string): Promise<AccountRecord> {
  const account = await accounts.findAccount(id);
  if (account === null) throw new Error(`No account has the ID ${id}.`);
  return account;
}
