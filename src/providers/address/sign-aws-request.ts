import { createHash, createHmac } from "node:crypto";

/** An AWS key. Temporary keys have a session token. */
export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** A request to sign, and its scope. */
interface AwsRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly region: string;
  readonly service: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/**
 * Signs a request with AWS Signature Version 4, as all services but S3 expect it. Returns the headers to add:
 * `authorization`, `x-amz-date`, and the session token if the key has one.
 */
export function signAwsRequest(request: AwsRequest, key: AwsKey): Record<string, string> {
  const time = new Date(request.now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  const added: Record<string, string> = { "x-amz-date": time };
  if (key.sessionToken !== null) added["x-amz-security-token"] = key.sessionToken;
  const signed: Record<string, string> = { ...request.headers, ...added, host: request.url.host };
  const names = Object.keys(signed).sort();
  const scope = [time.slice(0, 8), request.region, request.service, "aws4_request"];
  const words = [ALGORITHM, time, scope.join("/"), hash(canonize(request, signed, names))].join("\n");
  const secret = scope.reduce<string | Buffer>(hmac, `AWS4${key.secretAccessKey}`);
  const signature = hmac(secret, words).toString("hex");
  const credential = `${key.accessKeyId}/${scope.join("/")}`;
  return {
    ...added,
    authorization: `${ALGORITHM} Credential=${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

/** Returns the canonical request, which both sides hash. */
function canonize(
  { method, url, body }: AwsRequest,
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): string {
  // Encoded twice, as specified for all services but S3.
  const path = url.pathname.split("/").map(encodeStrictly).join("/");
  const lines = names.map((name) => `${name}:${(headers[name] as string).trim().replace(/\s+/g, " ")}\n`);
  return [method, path, canonizeQuery(url), lines.join(""), names.join(";"), hash(body)].join("\n");
}

function canonizeQuery(url: URL): string {
  const pairs = [...url.searchParams].map((pair) => pair.map(encodeStrictly).join("="));
  return pairs.sort().join("&");
}

/** Encodes all characters except the unreserved ones of RFC 3986. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(secret: string | Buffer, text: string): Buffer {
  return createHmac("sha256", secret).update(text).digest();
}

function hash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
