import { BOUNDS } from "../../base/numbers/bounds.ts";
import { joinWords } from "../../base/text/join-words.ts";
import { rolesWith } from "../../core/accounts/records/rights.ts";
import { TAGS_HEADER } from "../../wire/client-apis/request/request-tags.ts";
import type { OpenApiDocument, ParameterObject } from "./document.ts";
import type { Callers, RequestHeader } from "./operation.ts";

/** The prefix of inference paths in the document. The other prefixes serve the same. */
export const GATEWAY_BASE = "/api/gateway";

/** Selects the account that pays. */
export const ORGANIZATION_HEADER: RequestHeader = {
  name: "x-gateway-organization",
  description:
    "Id of an organization that the key's user is a member of. The request is made for that organization, which pays for it.",
};

/** Identifies the conversation. */
export const SESSION_HEADER: RequestHeader = {
  name: "x-session-id",
  description: "Your identifier of the conversation, if the body has no `session_id`.",
};

/** Marks a request for usage reports. */
export const TAGS: RequestHeader = {
  name: TAGS_HEADER,
  description: `Comma-separated tags, in addition to \`tags\` in the body. At most ${BOUNDS.requestTags} in all.`,
};

/** Selects the model of some auto tiers. */
export const MODE_HEADER: RequestHeader = {
  name: "x-gateway-mode",
  description: "Mode of the client, such as `plan`. Some auto tiers select their model by it.",
};

/** Makes a POST safe to retry. */
export const IDEMPOTENCY_KEY: ParameterObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A unique value of visible ASCII characters that makes the request safe to retry. Within 24 hours, a repetition returns the first response, with `idempotent-replayed: true`. A different request with the same value is rejected with 409.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
};

const TEXT = { type: "string" } as const;
const COUNT = { type: "string", pattern: "^\\d+$" } as const;

/** Response headers by name. */
export const RESPONSE_HEADERS: OpenApiDocument["components"]["headers"] = {
  "x-request-id": { description: "Id of the request, as in the gateway's log.", schema: TEXT },
  "request-id": { description: "Same as x-request-id, for clients of the Messages API.", schema: TEXT },
  "x-gateway-generation-id": {
    description:
      "Id of the generation, for `GET generation`. Absent if the request was rejected before routing.",
    schema: TEXT,
  },
  "x-gateway-attempts": { description: "Number of candidates that were tried.", schema: COUNT },
  "x-gateway-route": {
    description:
      "The routing plan: the candidates in order, then the deployments left out, with reasons, such as `anthropic;why=warm_cache, azure;out=circuit_open`.",
    schema: TEXT,
  },
  "x-gateway-model": { description: "Id of the model that answered.", schema: TEXT },
  "x-gateway-provider": { description: "Slug of the provider that answered.", schema: TEXT },
  "x-gateway-warning": { description: "How the gateway changed the request.", schema: TEXT },
  "x-ratelimit-limit-requests": {
    description: "Requests allowed per window by the limit closest to being reached.",
    schema: COUNT,
  },
  "x-ratelimit-remaining-requests": { description: "Remaining requests in the window.", schema: COUNT },
  "x-ratelimit-reset-requests": {
    description: "Time until the limit is fully available again, in seconds, such as `12s`.",
    schema: TEXT,
  },
  "x-ratelimit-limit-tokens": {
    description: "Tokens allowed per minute by the limit closest to being reached.",
    schema: COUNT,
  },
  "x-ratelimit-remaining-tokens": { description: "Remaining tokens.", schema: COUNT },
  "x-ratelimit-reset-tokens": {
    description: "Time until the limit is fully available again, in seconds, such as `12s`.",
    schema: TEXT,
  },
  "retry-after": { description: "Seconds to wait before retrying.", schema: COUNT },
  "idempotent-replayed": {
    description: "`true` if this is the stored response of an earlier request with the same Idempotency-Key.",
    schema: TEXT,
  },
  etag: {
    description:
      "Identifies this version. Send it as `If-None-Match` to get 304 while the version is current.",
    schema: TEXT,
  },
};

/** The ways to authenticate. */
export const SECURITY_SCHEMES: OpenApiDocument["components"]["securitySchemes"] = {
  inferenceKey: {
    type: "http",
    scheme: "bearer",
    description: "An inference key, `gw_…`. Inference keys call models.",
  },
  inferenceApiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same key in the x-api-key header.",
  },
  managementKey: {
    type: "http",
    scheme: "bearer",
    description: "A management key, `gw_…`. Management keys call the management API.",
  },
  managementApiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same key in the x-api-key header.",
  },
  consoleSession: {
    type: "apiKey",
    in: "cookie",
    name: "gateway_session",
    description:
      "A session of the console. Its cookie is `__Host-gateway_session` over TLS. Requests that change something must come from the console's own origin.",
  },
  webhookSignature: {
    type: "apiKey",
    in: "header",
    name: "x-gateway-signature",
    description:
      '`t=<unix seconds>,v1=<HMAC-SHA256 of "t.body" in hex>`, with billing.webhook_secret as the key. Valid for five minutes.',
  },
};

const INFERENCE = [{ inferenceKey: [] }, { inferenceApiKey: [] }];
const SESSION = [{ consoleSession: [] }];
const MANAGEMENT = [{ managementKey: [] }, { managementApiKey: [] }, ...SESSION];

/** Returns who may call an operation: as security requirements, and as a sentence. */
export function describeCallers(callers: Callers) {
  switch (callers.kind) {
    case "anyone":
      return { security: [{}], who: "Anyone, without authentication" };
    case "optional_key":
      return {
        security: [...INFERENCE, {}],
        who: "Anyone. With an inference key, the response contains only what its account and key may use",
      };
    case "open_inference":
      return { security: [...INFERENCE, {}], who: "Inference keys. Free models need no key" };
    case "inference":
    case "inference_key":
      return { security: INFERENCE, who: "Inference keys" };
    case "operator":
      return { security: MANAGEMENT, who: "Management keys of the operator" };
    case "account":
      return {
        security: MANAGEMENT,
        who: `Management keys of the operator, and of the account; in an organization those with the role ${joinWords(rolesWith(callers.right), "or")}`,
      };
    case "console_session":
      return { security: SESSION, who: "Sessions of the console" };
    case "sign_in":
      return { security: [{}], who: "Anyone who has a management key or a one-time code" };
    case "signed":
      return { security: [{ webhookSignature: [] }], who: "The payment system, by signature" };
  }
}
