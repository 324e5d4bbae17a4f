import type { OpenApiDocument, ParameterObject } from "./document.ts";
import type { Callers, RequestHeader } from "./operation.ts";

/** The prefix that the document names; the others are names for the same. */
export const GATEWAY_BASE = "/api/gateway";

/** Which account pays, or is meant. */
export const ORGANIZATION_HEADER: RequestHeader = {
  name: "x-gateway-organization",
  description: "The id of an organization that the key's user is a member of: it pays, and is meant",
};

/** What conversation a request belongs to. */
export const SESSION_HEADER: RequestHeader = {
  name: "x-session-id",
  description: "Your name for the conversation, where the body has no `session_id`",
};

/** What some auto tiers choose by. */
export const MODE_HEADER: RequestHeader = {
  name: "x-gateway-mode",
  description: "What the client is doing, such as `plan`: some auto tiers choose their model by it",
};

/** A POST that may be repeated. */
export const IDEMPOTENCY_KEY: ParameterObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Your name for this request, in visible ASCII characters. The same request with it is done once in 24 hours and answered the same, with `idempotent-replayed: true`; another request with it is 409",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
};

const TEXT = { type: "string" } as const;
const COUNT = { type: "string", pattern: "^\\d+$" } as const;

/** The headers of answers, by name. */
export const ANSWER_HEADERS: OpenApiDocument["components"]["headers"] = {
  "x-request-id": { description: "The request's id, also in the log", schema: TEXT },
  "request-id": { description: "The same as x-request-id, for clients of the Messages API", schema: TEXT },
  "x-gateway-generation-id": {
    description: "The generation's id, for `GET generation`; once the request was let in",
    schema: TEXT,
  },
  "x-gateway-attempts": { description: "How many candidates were tried", schema: COUNT },
  "x-gateway-route": {
    description:
      "Who was to be asked, in turn, then who was not, and why: `anthropic;why=warm_cache, azure;out=circuit_open`",
    schema: TEXT,
  },
  "x-gateway-model": { description: "The model that answered", schema: TEXT },
  "x-gateway-provider": { description: "The provider that answered", schema: TEXT },
  "x-gateway-warning": { description: "What was changed of the request", schema: TEXT },
  "x-ratelimit-limit-requests": {
    description: "Requests that the nearest limit allows in its window",
    schema: COUNT,
  },
  "x-ratelimit-remaining-requests": { description: "Requests that are left of it", schema: COUNT },
  "x-ratelimit-reset-requests": {
    description: "When it is whole again, in seconds, such as `12s`",
    schema: TEXT,
  },
  "x-ratelimit-limit-tokens": { description: "Tokens that the nearest limit allows a minute", schema: COUNT },
  "x-ratelimit-remaining-tokens": { description: "Tokens that are left of it", schema: COUNT },
  "x-ratelimit-reset-tokens": {
    description: "When it is whole again, in seconds, such as `12s`",
    schema: TEXT,
  },
  "retry-after": { description: "Seconds to wait before the request is repeated", schema: COUNT },
  "idempotent-replayed": {
    description: "`true`: the answer of an earlier request with the same Idempotency-Key",
    schema: TEXT,
  },
  etag: {
    description: "Names this version; sent back as `If-None-Match` it is answered with 304",
    schema: TEXT,
  },
};

/** How callers prove who they are. */
export const SECURITY_SCHEMES: OpenApiDocument["components"]["securitySchemes"] = {
  inferenceKey: { type: "http", scheme: "bearer", description: "An inference key, `gw_…`: calls models" },
  inferenceApiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same, where clients send it so",
  },
  managementKey: {
    type: "http",
    scheme: "bearer",
    description: "A management key, `gw_…`: manages, and calls no model",
  },
  managementApiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same, where clients send it so",
  },
  webhookSignature: {
    type: "apiKey",
    in: "header",
    name: "x-gateway-signature",
    description:
      '`t=<unix seconds>,v1=<HMAC-SHA256 of "t.body" in hex>`, made with billing.webhook_secret; holds for five minutes',
  },
};

const INFERENCE = [{ inferenceKey: [] }, { inferenceApiKey: [] }];
const MANAGEMENT = [{ managementKey: [] }, { managementApiKey: [] }];

function joinWords(words: readonly string[]): string {
  return [words.slice(0, -1).join(", "), words.at(-1)].filter((part) => part !== "").join(" or ");
}

/** Who may call, for machines and for people. */
export function describeCallers(callers: Callers) {
  switch (callers.kind) {
    case "anyone":
      return { security: [{}], who: "Anyone, without a key" };
    case "narrowed":
      return {
        security: [...INFERENCE, {}],
        who: "Anyone; an inference key narrows it to what its account and key allow",
      };
    case "freely":
      return { security: [...INFERENCE, {}], who: "An inference key; none is needed for free models" };
    case "inference":
      return { security: INFERENCE, who: "An inference key, about itself and its account" };
    case "operator":
      return { security: MANAGEMENT, who: "The operator's management key" };
    case "account":
      return {
        security: MANAGEMENT,
        who: `The operator's management key, or a management key of the account: in an organization of its ${joinWords(callers.roles)}`,
      };
    case "signed":
      return { security: [{ webhookSignature: [] }], who: "Whoever signs with the webhook's secret" };
  }
}
