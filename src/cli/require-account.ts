import type { Stores } from "../app/wire-up.ts";
import type { AccountRecord } from "../core/accounts/records.ts";

/** An account, a user's or an organization's. @throws Error where there is none. */
export async function requireAccount({ accounts }: Stores, id: string): Promise<AccountRecord> {
  const account = await accounts.findAccount(id);
  if (account === null) throw new Error(`There is no account ${id}.`);
  return account;
}
