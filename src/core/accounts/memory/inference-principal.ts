import { fail } from "../../../base/failures/errors.ts";
import { KEY_SETTINGS } from "../fields/key-fields.ts";
import { unsetFields } from "../fields/resource-fields.ts";
import type { AccountPrincipal } from "../records/principal.ts";
import { DEFAULT_ACCOUNT_ID, FIRST_SECRET, type KeyRecord } from "../records/records.ts";
import type { KeyStore } from "../stores/key-store.ts";
import type { AccountCache } from "./account-cache.ts";
import { resolveAccount } from "./resolve-account.ts";

/** The dependencies of finding a principal. */
interface PrincipalStores {
  readonly keys: Pick<KeyStore, "findKey">;
  readonly accounts: AccountCache;
}

/**
 * Returns the principal that a request with an API key would have, without the key's secret.
 * @throws GatewayError `not_found` if there is no such key, or `mayManage` denies its account; `invalid_request` for a key
 * that calls no models; `permission_denied` if its account is closed.
 */
export async function principalOfKey(
  { keys, accounts }: PrincipalStores,
  keyId: string,
  mayManage: (accountId: string) => boolean,
): Promise<AccountPrincipal> {
  const key = await keys.findKey(keyId);
  if (key === null || !mayManage(key.accountId)) return fail("not_found", "There is no key with that id.");
  if (key.kind !== "inference")
    return reject("key_id must be an inference key: a management key calls no models.");
  if (key.revokedAt !== null) return reject("key_id is revoked. Name another key of the account.");
  return resolveAccount(accounts, key, null);
}

function reject(message: string): never {
  return fail("invalid_request", message, { metadata: { field: "key_id" } });
}

/**
 * Returns the principal of an unrestricted key of an account: a key of the user, or a service key of the organization.
 * @throws GatewayError `not_found` if there is no such account; `permission_denied` if it is closed.
 */
export async function principalOfAccount(
  accounts: AccountCache,
  accountId: string,
): Promise<AccountPrincipal> {
  const account = await accounts.account(accountId);
  if (account === null) return fail("not_found", "There is no account with that id.");
  const isUser = account.kind === "user" && accountId !== DEFAULT_ACCOUNT_ID;
  return resolveAccount(accounts, { ...UNRESTRICTED, accountId, userId: isUser ? accountId : null }, null);
}

const UNRESTRICTED: Omit<KeyRecord, "accountId" | "userId"> = {
  ...unsetFields(KEY_SETTINGS),
  id: "key_none",
  kind: "inference",
  name: "",
  teamId: null,
  hash: "",
  hint: "",
  ...FIRST_SECRET,
  rateLimit: null,
  createdAt: 0,
  revokedAt: null,
  lastUsedAt: null,
};
