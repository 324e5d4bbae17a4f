import { joinIntoOne } from "../../base/text/composed-bytes.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { AuthKind } from "../../core/catalog/records/provider-schema.ts";
import type { UnsignedRequest, UpstreamAddress } from "../../core/deployments/upstream-address.ts";
import type { TokenSource } from "./google-tokens.ts";
import { type AwsKey, signAwsRequest } from "./sign-aws-request.ts";

/** Returns the authentication headers of a request. */
export type Authorizer = UpstreamAddress["authorize"];

const NOTHING = {};

/** Creates an authorizer that sends the key in a header. */
export function createHeaderAuthorizer(kind: Exclude<AuthKind, "aws" | "google">): Authorizer {
  return ({ secret }) => (kind === "bearer" ? createBearerHeader(secret) : header(kind, secret));
}

/** Creates an authorizer for AWS: a Bedrock API key is sent unchanged; a pair of id and secret signs each request. */
export function createAwsAuthorizer(region: string, clock: Clock): Authorizer {
  return ({ url, body, headers, secret }) => {
    const key = secret === null ? null : readAwsKey(secret);
    if (key === null) return createBearerHeader(secret);
    // Other headers may be changed before the request is sent.
    const signed = { "content-type": headers["content-type"] ?? "" };
    const request = {
      method: "POST",
      url,
      headers: signed,
      body: joinIntoOne(body),
      region,
      service: "bedrock",
      now: clock.now(),
    };
    return signAwsRequest(request, key);
  };
}

/** Creates an authorizer for Vertex: it sends the access token of a service account, or an API key. `sources` is keyed by secret. */
export function createGoogleAuthorizer(sources: ReadonlyMap<string, TokenSource>): Authorizer {
  return ({ secret }: UnsignedRequest) => {
    const source = secret === null ? undefined : sources.get(secret);
    if (source === undefined) return header("x-goog-api-key", secret);
    const token = source.token();
    return typeof token === "string" ? createBearerHeader(token) : token.then(createBearerHeader);
  };
}

const KEY_PAIR = /^([A-Z0-9]{16,128}):([^:]+)(?::([^:]+))?$/;

/** Parses a key of the form `id:secret` or `id:secret:session`. Returns null for another form. */
export function readAwsKey(secret: string): AwsKey | null {
  const [, accessKeyId, secretAccessKey, sessionToken = null] = KEY_PAIR.exec(secret) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, sessionToken };
}

function createBearerHeader(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? NOTHING : { authorization: `Bearer ${secret}` };
}

function header(name: string, secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? NOTHING : { [name]: secret };
}
