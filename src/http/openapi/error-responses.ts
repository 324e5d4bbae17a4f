import type { OpenApiDocument, OperationObject, ResponseObject } from "./document.ts";
import { describeErrors, ErrorBody } from "./errors.ts";
import type { Operation } from "./operation.ts";
import type { SchemaPrinter } from "./schema-printer.ts";

/** Describes the errors of operations. Errors in the common format are declared once, in `components.responses`. */
export interface ErrorPrinter {
  print(operation: Operation): OperationObject["responses"];
  readonly responses: OpenApiDocument["components"]["responses"];
}

/** Headers of error responses by status, in addition to the request id. */
const ERROR_HEADERS: Readonly<Record<number, readonly string[]>> = {
  429: ["retry-after"],
  503: ["retry-after"],
};

/** Returns a printer without responses. Schemas go to the printer `schemas`. */
export function createErrorPrinter(schemas: SchemaPrinter): ErrorPrinter {
  const responses: Record<string, ResponseObject> = {};
  return {
    responses,
    print({ errors, errorSchema, responseHeaders }) {
      const limits = responseHeaders.filter((name) => name.startsWith("x-ratelimit-"));
      const content = { "application/json": { schema: schemas.print(errorSchema, "output") } };
      const byStatus = describeErrors(errors).map(({ status, codes, description }) => {
        const headers = referToHeaders([...(ERROR_HEADERS[status] ?? []), ...limits]);
        const response = { description, headers, content };
        if (errorSchema !== ErrorBody || limits.length > 0) return [status, response] as const;
        const name = codes.map(nameInPascal).join("Or");
        responses[name] = response;
        return [status, { $ref: `#/components/responses/${name}` }] as const;
      });
      return Object.fromEntries(byStatus);
    },
  };
}

function nameInPascal(code: string): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns references to `components.headers`, the request id first. */
export function referToHeaders(names: readonly string[]): NonNullable<ResponseObject["headers"]> {
  const all = ["x-request-id", ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
