import type { ActingMember, KeyRecord, SpendingAccount, TeamRecord } from "./records.ts";

/** An API key, before it is known which account it acts for. */
export interface ApiKeyPrincipal {
  readonly kind: "key";
  readonly key: KeyRecord;
}

/**
 * An API key and the account that it acts for: the account pays for inference with it, or is managed with it. Immutable: after a change
 * of one of the records there is another object.
 */
export interface AccountPrincipal extends ApiKeyPrincipal {
  readonly account: SpendingAccount;
  /** The membership through which the key's user acts for an organization; null if no membership is needed. */
  readonly member: ActingMember | null;
  /** The team of the key; null for none. */
  readonly team: TeamRecord | null;
}

/** The operator: the configured admin key, or a stored management key of the operator account. May manage every account. */
export interface OperatorPrincipal {
  readonly kind: "operator";
  readonly keyId: string;
}

/** A payment system, proven by the signature of its request's body. */
export interface SignedWebhookPrincipal {
  readonly kind: "webhook";
}

/** A caller without credentials. May call free models only, and is rate limited by address. */
export interface AnonymousPrincipal {
  readonly kind: "anonymous";
  /** A keyed hash of the client's address (IPv4, or the /64 of IPv6). */
  readonly addressHash: string;
}

/** Who sends a request. */
export type Principal = ApiKeyPrincipal | OperatorPrincipal | SignedWebhookPrincipal | AnonymousPrincipal;

/** The principals that may call models. */
export type InferencePrincipal = AccountPrincipal | AnonymousPrincipal;

/** The principals that may call the management API. */
export type ManagementPrincipal = AccountPrincipal | OperatorPrincipal;

/** The key id that logs and the audit log record for the configured admin key. */
export const ADMIN_KEY_ID = "key_operator";

/** The key id that the audit log records for changes by signed webhooks. */
const WEBHOOK_KEY_ID = "key_webhook";

/** Returns the id of a principal's credentials, as the audit log and stored idempotency keys have it. */
export function credentialIdOf(principal: Exclude<Principal, AnonymousPrincipal>): string {
  switch (principal.kind) {
    case "key":
      return principal.key.id;
    case "operator":
      return principal.keyId;
    case "webhook":
      return WEBHOOK_KEY_ID;
  }
}
