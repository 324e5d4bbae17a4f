import { createPrivateKey, type KeyObject, sign } from "node:crypto";

/** A service account of Google Cloud and its private key. */
export interface ServiceAccount {
  readonly email: string;
  /** The id of the key, with which Google finds the public key. */
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

/** A service account, or the reason why the text is not one. The reason contains nothing of the key. */
type AccountReading =
  | { readonly kind: "account"; readonly account: ServiceAccount }
  | { readonly kind: "unreadable"; readonly reason: string };

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** The longest lifetime that Google allows. Seconds. */
const ASSERTION_LIFE_S = 3_600;

/** Returns whether a key is the text of a service account's key file. Others are API keys. */
export function isServiceAccount(secret: string): boolean {
  return secret.trimStart().startsWith("{");
}

/** Reads the text of a service account's key file. */
export function readServiceAccount(text: string): AccountReading {
  const fields = parseObject(text);
  if (fields === null) return unreadable("is not JSON");
  const { type, client_email: email, private_key_id: keyId, private_key: pem } = fields;
  if (type !== "service_account")
    return unreadable(`is a credential of type ${JSON.stringify(type)}, not "service_account"`);
  if (typeof email !== "string" || typeof pem !== "string")
    return unreadable("lacks client_email or private_key");
  try {
    // Environment variables often contain line breaks as two characters.
    const privateKey = createPrivateKey(pem.replaceAll("\\n", "\n"));
    return { kind: "account", account: { email, keyId: typeof keyId === "string" ? keyId : "", privateKey } };
  } catch {
    return unreadable("has a private_key that cannot be read");
  }
}

/** Returns a JWT signed by the account for `audience`. `now` is in milliseconds since the epoch. */
export function signAssertion(
  { email, keyId, privateKey }: ServiceAccount,
  audience: string,
  now: number,
): string {
  const issuedAt = Math.floor(now / 1000);
  const header = { alg: "RS256", typ: "JWT", kid: keyId };
  const claims = {
    iss: email,
    scope: SCOPE,
    aud: audience,
    iat: issuedAt,
    exp: issuedAt + ASSERTION_LIFE_S,
  };
  const words = `${encode(header)}.${encode(claims)}`;
  return `${words}.${sign("RSA-SHA256", Buffer.from(words), privateKey).toString("base64url")}`;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function unreadable(reason: string): AccountReading {
  return { kind: "unreadable", reason };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
