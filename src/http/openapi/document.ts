/** A JSON Schema of draft 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A parameter in the path, the query or a header. */
export interface ParameterObject {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

/** Bodies by media type. */
export type ContentObject = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface ReferenceObject {
  readonly $ref: string;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, ReferenceObject>>;
  readonly content?: ContentObject;
}

/** One method of one path. */
export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Who may call the operation, in words. */
  readonly "x-who-may-call": string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly (ParameterObject | ReferenceObject)[];
  readonly requestBody?: { readonly required: boolean; readonly content: ContentObject };
  readonly responses: Readonly<Record<string, ResponseObject | ReferenceObject>>;
}

/** The part of OpenAPI 3.1 that the gateway's document uses. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly parameters: Readonly<Record<string, ParameterObject>>;
    readonly headers: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
}
