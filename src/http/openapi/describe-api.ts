import packageJson from "../../../package.json" with { type: "json" };
import { ENDPOINTS } from "../routes/endpoints.ts";
import { describeOperation } from "./describe-operation.ts";
import type { OpenApiDocument, OperationObject } from "./document.ts";
import { endpointOperation } from "./endpoint-operation.ts";
import { createErrorPrinter } from "./error-responses.ts";
import { INFERENCE_OPERATIONS } from "./inference-operations.ts";
import { LIST_OPERATIONS, SERVICE_OPERATIONS } from "./list-operations.ts";
import type { Operation } from "./operation.ts";
import { createSchemaPrinter } from "./schema-printer.ts";
import { IDEMPOTENCY_KEY, RESPONSE_HEADERS, SECURITY_SCHEMES } from "./shared-parts.ts";
import { STATE_OPERATIONS } from "./state-operations.ts";

/**
 * Returns the OpenAPI 3.1 document of all endpoints. The schemas of management endpoints are those that validate their requests;
 * inference has schemas for documentation only. The result is always the same.
 */
export function describeApi(): OpenApiDocument {
  const printer = createSchemaPrinter();
  const errors = createErrorPrinter(printer);
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of OPERATIONS) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(operation, printer, errors),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Gateway",
      version: packageJson.version,
      summary: packageJson.description,
      description: DESCRIPTION,
      license: { name: packageJson.license, identifier: packageJson.license },
    },
    servers: [{ url: "/", description: "This gateway." }],
    tags: [...new Set(OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: printer.components,
      responses: errors.responses,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: RESPONSE_HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const DESCRIPTION = [
  "Authenticate with `Authorization: Bearer gw_…` or `x-api-key`. Inference keys call models, management keys call the management API; neither works for the other.",
  "Request bodies are JSON, optionally compressed (`content-encoding` gzip, deflate, br or zstd). Paths under `/api/gateway` are also served under `/api/gateway/v1`, `/api/v1` and `/v1`.",
  'Errors have the same format everywhere except in the Messages and Responses APIs, which use their own. Lists are `{"data": […], "next": …}`: to get the next page, send `next` as `after`. On the last page `next` is `null`.',
  "Every response has an `x-request-id`. POST requests to the management API accept an `Idempotency-Key`.",
  "Amounts are in US dollars; times are RFC 3339 in UTC. A limit of `null` means no limit.",
].join("\n\n");

/** Every documented operation. Endpoints describe themselves; other routes are described in this folder. */
export const OPERATIONS: readonly Operation[] = [
  ...INFERENCE_OPERATIONS,
  ...STATE_OPERATIONS,
  ...LIST_OPERATIONS,
  ...ENDPOINTS.map(endpointOperation),
  ...SERVICE_OPERATIONS,
];
