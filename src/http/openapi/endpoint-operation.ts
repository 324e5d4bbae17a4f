import type { z } from "zod";
import type { ErrorCode } from "../../base/failures/errors.ts";
import { type Endpoint, NOTHING } from "../api/endpoint.ts";
import { ErrorBody } from "./errors.ts";
import type { Operation, RequestHeader, SuccessResponse } from "./operation.ts";
import { GATEWAY_BASE, ORGANIZATION_HEADER } from "./shared-parts.ts";

/** Returns the operation of a management or self-service endpoint. */
export function endpointOperation(endpoint: Endpoint): Operation {
  const { method, path, tag, summary, access } = endpoint;
  const takesIdempotencyKey = isRepeatable(endpoint);
  return {
    method,
    path: endpoint.everyPrefix ? GATEWAY_BASE + path : path,
    tag,
    summary,
    callers: access,
    params: nullIfEmpty(endpoint.params),
    query: nullIfEmpty(endpoint.query),
    headers: headersOf(endpoint),
    body: nullIfEmpty(endpoint.body),
    responses: responsesOf(endpoint),
    responseHeaders: takesIdempotencyKey ? ["idempotent-replayed"] : [],
    errors: errorsOf(endpoint),
    errorSchema: ErrorBody,
    takesIdempotencyKey,
  };
}

/** Returns whether a request to an endpoint is made once if it is repeated with the same `Idempotency-Key`. */
function isRepeatable({ method, access, changesNothing }: Endpoint): boolean {
  return method === "POST" && access.kind !== "sign_in" && changesNothing !== true;
}

/** Returns null for a schema without fields. */
function nullIfEmpty(schema: z.ZodType): z.ZodType | null {
  return schema === NOTHING ? null : schema;
}

function headersOf({ access, csv }: Endpoint): readonly RequestHeader[] {
  if (access.kind === "inference") return [ORGANIZATION_HEADER];
  return csv ? [{ name: "Accept", description: "`text/csv` for CSV instead of JSON." }] : [];
}

function responsesOf({
  response,
  existingStatus,
  csv,
  events,
  ...endpoint
}: Endpoint): readonly SuccessResponse[] {
  const status: number = endpoint.status ?? 200;
  if (events !== undefined)
    return [{ status, description: events, schema: null, mediaType: "text/event-stream" }];
  const description = status === 201 ? "Created." : "Success.";
  return [
    { status, description, schema: response },
    ...(csv ? [{ status, description, schema: null, mediaType: "text/csv" }] : []),
    ...(existingStatus
      ? [{ status: existingStatus, description: "The resource already exists.", schema: response }]
      : []),
  ];
}

/** Returns the errors of an endpoint, which follow from its input and access (docs/api/errors.md). */
function errorsOf(endpoint: Endpoint): readonly ErrorCode[] {
  const { method, access, params, query, body, errors = [] } = endpoint;
  const takesBody = body !== NOTHING;
  const takesAny = takesBody || [params, query].some((schema) => schema !== NOTHING);
  const isAboutAccount = access.kind === "account" || access.kind === "signed";
  return [
    ...(takesAny || method !== "GET" ? (["invalid_request"] as const) : []),
    "authentication",
    ...(access.kind === "signed" ? [] : (["permission_denied"] as const)),
    ...(isAboutAccount || params !== NOTHING ? (["not_found"] as const) : []),
    ...(method === "GET" || endpoint.changesNothing ? [] : (["conflict"] as const)),
    ...(takesBody || access.kind === "signed"
      ? (["client_timeout", "payload_too_large", "unsupported_media_type"] as const)
      : []),
    ...(isRepeatable(endpoint) ? (["rate_limit_exceeded"] as const) : []),
    "internal",
    ...errors,
    "unavailable",
  ];
}
