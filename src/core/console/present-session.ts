import { ADMIN_KEY_ID } from "../accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID, type Role } from "../accounts/records/records.ts";
import type { AccountStore } from "../accounts/stores/account-store.ts";
import type { KeyStore } from "../accounts/stores/key-store.ts";
import type { ConsoleSession } from "./console-session.ts";

/** The sources of the names in a view of a session. */
interface SessionNames {
  readonly accounts: Pick<AccountStore, "findAccount" | "findMember">;
  readonly keys: Pick<KeyStore, "findKey">;
}

/** Returns the view of a session that the API and the commands show. */
export async function presentSession(session: ConsoleSession, names: SessionNames) {
  const { id, keyId, accountId, userId, userAgent } = session;
  const account = await names.accounts.findAccount(accountId);
  const user = userId === null ? null : await names.accounts.findAccount(userId);
  const key = keyId === ADMIN_KEY_ID ? null : await names.keys.findKey(keyId);
  return {
    id,
    key: { id: keyId, name: keyId === ADMIN_KEY_ID ? "configured admin key" : (key?.name ?? keyId) },
    account: { id: accountId, name: account?.name ?? accountId },
    user: userId === null ? null : { id: userId, name: user?.name ?? userId },
    role: await findRole(session, names),
    user_agent: userAgent,
    created_at: new Date(session.createdAt).toISOString(),
    last_used_at: new Date(session.lastUsedAt).toISOString(),
    expires_at: new Date(session.expiresAt).toISOString(),
  };
}

async function findRole(
  { accountId, userId }: ConsoleSession,
  { accounts }: SessionNames,
): Promise<Role | "operator" | null> {
  if (accountId === DEFAULT_ACCOUNT_ID) return "operator";
  if (userId === null || userId === accountId) return "owner";
  return (await accounts.findMember(accountId, userId))?.role ?? null;
}
