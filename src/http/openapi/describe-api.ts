import packageJson from "../../../package.json" with { type: "json" };
import { describeOperation } from "./describe-operation.ts";
import type { OpenApiDocument, OperationObject } from "./document.ts";
import { createErrorPrinter } from "./error-answers.ts";
import { OPERATIONS } from "./operations.ts";
import { createSchemaPrinter } from "./schema-printer.ts";
import { ANSWER_HEADERS, IDEMPOTENCY_KEY, SECURITY_SCHEMES } from "./shared-parts.ts";

/** The OpenAPI 3.1 document of everything that is served, made of the management endpoints' own schemas, which check their requests, and of schemas for inference. Always the same. */
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
    servers: [{ url: "/", description: "This gateway" }],
    tags: [...new Set(OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: printer.components,
      responses: errors.responses,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: ANSWER_HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const DESCRIPTION = [
  "Keys come as `Authorization: Bearer gw_…` or as `x-api-key`. Inference keys call models, management keys manage; neither does what the other does.",
  "Bodies are JSON, plain or with `content-encoding` gzip, br or zstd. Paths under `/api/gateway` also answer under `/api/gateway/v1`, `/api/v1` and `/v1`.",
  'Errors look the same everywhere but in the Messages and Responses APIs, which have their own shapes. Lists are `{"data": […], "next": …}`: send `next` as `after` for the page behind, until it is null.',
  "Every answer has its id in `x-request-id`. A POST that changes something takes an `Idempotency-Key`.",
  "Amounts are US dollars, times are RFC 3339 in UTC. Null is no limit.",
].join("\n\n");
