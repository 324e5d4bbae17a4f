import type { z } from "zod";
import type {
  ContentObject,
  JsonSchema,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
} from "./document.ts";
import { type ErrorPrinter, referToHeaders } from "./error-responses.ts";
import type { Operation, SuccessResponse } from "./operation.ts";
import type { SchemaPrinter } from "./schema-printer.ts";
import { describeCallers } from "./shared-parts.ts";

/** Returns the operation object of the document. Named schemas and responses go to the printers' components. */
export function describeOperation(
  operation: Operation,
  printer: SchemaPrinter,
  errors: ErrorPrinter,
): OperationObject {
  const { method, path, tag, summary, description, callers, body, bodyType = "application/json" } = operation;
  const { security, who } = describeCallers(callers);
  return {
    operationId: nameOperation(method, path),
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    "x-who-may-call": who,
    security,
    parameters: listParameters(operation, printer),
    ...(body === null ? {} : { requestBody: describeBody(body, bodyType, printer) }),
    responses: { ...describeResponses(operation, printer), ...errors.print(operation) },
  };
}

/** Returns a stable operation id from method and path: `GET /api/admin/users/:id` is `getAdminUsersById`. */
function nameOperation(method: string, path: string): string {
  if (path === "/") return `${method.toLowerCase()}Root`;
  const words = path
    .replace(/^\/api\//, "/")
    .replace(/^\/gateway(?=\/.)/, "")
    .replace(/:/g, "by_")
    .split(/[^a-zA-Z0-9]+/)
    .filter((word) => word !== "");
  const name = words.map((word) => (word[0] as string).toUpperCase() + word.slice(1)).join("");
  return method.toLowerCase() + name;
}

function listParameters(
  { path, params, query, headers, takesIdempotencyKey }: Operation,
  printer: SchemaPrinter,
): readonly (ParameterObject | ReferenceObject)[] {
  return [
    ...listFields(params, "path", printer).map((parameter) => describeId(parameter, path)),
    ...listFields(query, "query", printer),
    ...headers.map(({ name, description }) => ({
      name,
      in: "header" as const,
      required: false,
      description,
      schema: { type: "string" },
    })),
    ...(takesIdempotencyKey ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

/** Describes a path parameter without description as the id of the resource before it in the path. */
function describeId(parameter: ParameterObject, path: string): ParameterObject {
  if (parameter.description !== undefined) return parameter;
  const parts = path.split("/");
  const before = parts[parts.indexOf(`:${parameter.name}`) - 1] ?? "";
  const thing = before.replace(/s$/, "").replaceAll("-", " ");
  return { ...parameter, description: `Id of the ${thing}.` };
}

/** Returns the fields of an object schema as parameters. */
function listFields(
  schema: z.ZodType | null,
  where: "path" | "query",
  printer: SchemaPrinter,
): readonly ParameterObject[] {
  if (schema === null) return [];
  const { properties = {}, required = [] } = printer.print(schema, "input") as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    ...(typeof description === "string" ? { description } : {}),
    schema: rest,
  }));
}

function describeBody(
  body: z.ZodType,
  mediaType: string,
  printer: SchemaPrinter,
): NonNullable<OperationObject["requestBody"]> {
  // If no field is required, the body may be omitted.
  const isOptional = body.safeParse({}).success;
  return { required: !isOptional, content: { [mediaType]: { schema: printer.print(body, "input") } } };
}

/** Returns the responses by status. Responses of one status with several media types are merged. */
function describeResponses(
  { responses, responseHeaders }: Operation,
  printer: SchemaPrinter,
): Readonly<Record<string, ResponseObject>> {
  const described: Record<string, ResponseObject> = {};
  for (const response of responses) {
    const known = described[response.status];
    described[response.status] = {
      description: response.description,
      headers: referToHeaders(responseHeaders),
      ...(hasBody(response) ? { content: { ...known?.content, ...describeContent(response, printer) } } : {}),
    };
  }
  return described;
}

function hasBody({ schema, mediaType }: SuccessResponse): boolean {
  return schema !== null || mediaType !== undefined;
}

function describeContent({ schema, mediaType }: SuccessResponse, printer: SchemaPrinter): ContentObject {
  const printed = schema === null ? { type: "string" } : printer.print(schema, "output");
  return { [mediaType ?? "application/json"]: { schema: printed } };
}
