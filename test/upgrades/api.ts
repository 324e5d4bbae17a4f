import { ADMIN_KEY } from "./installation.ts";

/** A response of a gateway. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body; a text if it is no JSON. */
  readonly body: unknown;
}

/** How to send a request, besides its method and path. */
export interface ApiRequest {
  readonly body?: unknown;
  /** The key; that of the operator by default. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The HTTP API of one version: what it has, and which of it was called. */
export class Api {
  /** Operations that were called, as the OpenAPI document names them: `GET /api/admin/users/{id}`. */
  readonly called = new Set<string>();

  private constructor(
    readonly url: string,
    /** The operations of the version. */
    readonly operations: ReadonlySet<string>,
    private readonly schemas: Readonly<Record<string, unknown>>,
  ) {}

  static async open(url: string): Promise<Api> {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    return new Api(url, new Set(operations), document as unknown as Record<string, unknown>);
  }

  has(operation: string): boolean {
    return this.operations.has(operation);
  }

  /** Whether the body of an operation has a member. */
  takes(operation: string, member: string): boolean {
    const [method = "", path = ""] = operation.split(" ");
    const { paths } = this.schemas as unknown as OpenApi;
    const body = JSON.stringify(this.resolve(paths[path]?.[method.toLowerCase()]?.["requestBody"]) ?? {});
    return body.includes(`"${member}":`);
  }

  /** Sends a request. `values` replace the parameters of the path, in order. */
  async call(
    operation: string,
    values: readonly string[] = [],
    request: ApiRequest = {},
  ): Promise<ApiResponse> {
    this.called.add(operation);
    const [method = "", template = ""] = operation.split(" ");
    let next = 0;
    const path = template.replace(/\{\w+\}/g, () => encodeURIComponent(values[next++] ?? ""));
    return this.send(method, path, request);
  }

  /** Like `call`; rejects unless it succeeds. Returns the body. */
  async make(operation: string, values: readonly string[], body?: unknown): Promise<Made> {
    const response = await this.call(operation, values, body === undefined ? {} : { body });
    if (response.status >= 300)
      throw new Error(
        `${operation} ${values.join(" ")}: ${response.status} ${JSON.stringify(response.body)}`,
      );
    return response.body as Made;
  }

  async send(
    method: string,
    path: string,
    { body, key = ADMIN_KEY, headers = {} }: ApiRequest,
  ): Promise<ApiResponse> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  }

  /** Replaces a reference by what it names. */
  private resolve(schema: unknown, depth = 0): unknown {
    if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH) return schema;
    const { $ref } = schema as { readonly $ref?: string };
    if ($ref !== undefined) return this.resolve(this.find($ref), depth + 1);
    const resolved = Object.entries(schema).map(([name, value]) => [name, this.resolve(value, depth + 1)]);
    return Array.isArray(schema) ? resolved.map(([, value]) => value) : Object.fromEntries(resolved);
  }

  private find(reference: string): unknown {
    return reference
      .slice(2)
      .split("/")
      .reduce<unknown>((found, name) => (found as Record<string, unknown> | undefined)?.[name], this.schemas);
  }
}

const MAX_DEPTH = 12;

/** The body of a response that has made something. */
export interface Made {
  /** The secret of a new key. */
  readonly key?: string;
  /** The link of a new invitation. */
  readonly link?: string;
  readonly data: { readonly id: string; readonly [field: string]: unknown };
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
