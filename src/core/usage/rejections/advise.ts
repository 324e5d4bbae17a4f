import type { ErrorCode } from "../../../base/failures/errors.ts";
import { ADMIN_KEY_ID } from "../../accounts/records/principal.ts";
import type { Rejection } from "./rejection.ts";

/** Returns what to do about a rejected request, in sentences for the operator or the owner of the account. */
export function adviseOn(rejection: Rejection): string {
  const advice = ADVICE[rejection.code];
  return typeof advice === "string" ? advice : advice(rejection);
}

type Advice = string | ((rejection: Rejection) => string);

/** What to do, by error code. */
const ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  invalid_request: ({ field }) =>
    field === null
      ? "The client must send another request, as the message says."
      : `The client must change the field ${field}, as the message says.`,
  invalid_model:
    "The client must name a served model. If the model exists at a provider, serve it, or add a named route with the name that the client sends.",
  context_length_exceeded:
    "The prompt is longer than the model allows. Shorten it, or name a model with a longer context.",
  previous_response_not_found:
    "The client continues a response that the gateway has not kept. It must send store: true with each request, or the whole conversation in input.",
  authentication: adviseOnKey,
  insufficient_credits: adviseOnMoney,
  model_not_allowed:
    "A policy of the gateway, the account or the key excludes the model. Allow it there, or name another model.",
  permission_denied: adviseOnPermission,
  content_blocked: "A guardrail blocked the request. Change its text, or the guardrail.",
  not_found: "No API has this path. Check the base URL of the client: most take …/v1.",
  method_not_allowed: "The path exists, but not for this method. The client's SDK may be for another API.",
  client_timeout:
    "The client did not send its whole request in time. Check its network, and timers in the configuration.",
  conflict:
    "The request was sent again while the first one was running, or with other content. Send it with another Idempotency-Key.",
  payload_too_large:
    "The request is larger than limits.body_bytes. Send less, or raise the limit in the configuration.",
  unsupported_media_type: "The client must send the content type and encoding that the message names.",
  upgrade_required: "The client must use HTTP instead of a WebSocket.",
  rate_limit_exceeded: adviseOnLimit,
  internal: "The gateway failed. Its log has the details under this request id.",
  upstream_error: "The provider failed. The health of providers shows since when.",
  unavailable:
    "No provider could be called, or the gateway was overloaded. See the health of providers and of the gateway.",
};

function adviseOnKey({ keyId, keyFingerprint }: Rejection): string {
  if (keyId !== null) return "The key is revoked or expired. Create another key, and give it to the client.";
  if (keyFingerprint === null)
    return "The request had no valid credentials. Create a key, and set it as the API key of the client.";
  return `The key is not one of this gateway. Requests with the same key have the fingerprint ${keyFingerprint}. Check the client's API key: it may be a provider's, or of another gateway. Create a key if there is none.`;
}

function adviseOnMoney({ limitSource, budgetId }: Rejection): string {
  if (limitSource === "budget")
    return `The budget${budgetId === null ? "" : ` ${budgetId}`} is used up. Raise it, or wait for its next period.`;
  if (limitSource === "key")
    return "The spending limit of the key is used up. Raise it, or wait for its next period.";
  if (limitSource === "member" || limitSource === "organization")
    return `The spending limit of the ${limitSource} is used up. Raise it, or wait for its next period.`;
  return "The balance of the account is too low. Add credits, or allow an overdraft.";
}

function adviseOnPermission({ keyId }: Rejection): string {
  return keyId === ADMIN_KEY_ID
    ? "The operator's key manages the gateway and calls no models. Create an inference key for the client."
    : "The key may not do this: it is a management key, or its account is closed or not its own. Create an inference key for an open account.";
}

function adviseOnLimit({ limitSource, limitKind }: Rejection): string {
  if (limitKind === "websockets")
    return "The caller has too many WebSockets open. Close some, or raise limits.websockets_per_key or limits.websockets_per_address.";
  if (limitSource === "anonymous")
    return "The address has used its requests without a key. Create a key for the client, or raise limits.anonymous_requests_per_hour.";
  if (limitKind === "body_bytes")
    return "The caller has too many large requests in progress. Send fewer at once, or raise limits.total_body_bytes.";
  if (limitSource === "key")
    return "The rate limit of the key was reached. Raise it, or send fewer requests.";
  if (limitSource === "account")
    return "The rate limit of the account was reached. Raise it, or send fewer requests.";
  if (limitSource === "gateway")
    return "The rate limit of the model was reached. Raise it in the configuration, or name another model.";
  return "A limit was reached. Wait as long as the response says, or send fewer requests.";
}
