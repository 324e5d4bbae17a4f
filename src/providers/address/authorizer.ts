import type { Clock } from "../../base/clock.ts";
import type { AuthKind } from "../../core/catalog/records.ts";
import type { UnsignedRequest, UpstreamAddress } from "../../core/deployments/upstream-address.ts";
import type { TokenSource } from "./google-tokens.ts";
import { type AwsKey, signAwsRequest } from "./sign-aws-request.ts";

/** Gives the headers that prove who sends a request. */
export type Authorizer = UpstreamAddress["authorize"];

const NOTHING = {};

/** For keys that go into a header as they are. */
export function createHeaderAuthorizer(kind: Exclude<AuthKind, "aws" | "google">): Authorizer {
  return kind === "bearer" ? ({ secret }) => bearer(secret) : ({ secret }) => header(kind, secret);
}

/** For AWS: a key of Bedrock goes as it is, a pair of id and secret signs each request. */
export function createAwsAuthorizer(region: string, clock: Clock): Authorizer {
  return ({ url, body, headers, secret }) => {
    const key = secret === null ? null : readAwsKey(secret);
    if (key === null) return bearer(secret);
    // Other headers may change on their way.
    const signed = { "content-type": headers["content-type"] ?? "" };
    const request = {
      method: "POST",
      url,
      headers: signed,
      body,
      region,
      service: "bedrock",
      now: clock.now(),
    };
    return signAwsRequest(request, key);
  };
}

/** For Vertex: a service account's token, or an API key. `sources` has a source for each account by its key. */
export function createGoogleAuthorizer(sources: ReadonlyMap<string, TokenSource>): Authorizer {
  return ({ secret }: UnsignedRequest) => {
    const source = secret === null ? undefined : sources.get(secret);
    if (source === undefined) return header("x-goog-api-key", secret);
    const token = source.token();
    return typeof token === "string" ? bearer(token) : token.then(bearer);
  };
}

const KEY_PAIR = /^([A-Z0-9]{16,128}):([^:]+)(?::([^:]+))?$/;

/** A key of the form `id:secret` or `id:secret:session`; null for one of another form. */
export function readAwsKey(secret: string): AwsKey | null {
  const [, accessKeyId, secretAccessKey, sessionToken = null] = KEY_PAIR.exec(secret) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, sessionToken };
}

function bearer(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? NOTHING : { authorization: `Bearer ${secret}` };
}

function header(name: string, secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? NOTHING : { [name]: secret };
}
