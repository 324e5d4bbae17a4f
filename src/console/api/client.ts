import { atBase } from "./base.ts";
import type { Operations } from "./schema.ts";

/** The name of an operation: method and path, such as `GET /api/admin/keys`. */
type OperationName = keyof Operations;

type QueryValue = string | number | boolean | null | undefined;

/** What a call sends. Empty query values are left out. */
interface CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** The longest time that a call may take. Milliseconds. */
const CALL_MS = 30_000;

/** A call that failed: the API's own words, or what kept it from being reached. */
export class ApiError extends Error {
  constructor(
    message: string,
    /** The HTTP status; 0 if there was no response. */
    readonly status: number,
    /** The error type of the API, such as `not_found`; `unreachable` if there was no response. */
    readonly type: string,
    /** The field that is not valid; null if the error is about no field. */
    readonly field: string | null,
    readonly requestId: string | null,
    /** More about the error, as the API names it. */
    readonly metadata: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = "ApiError";
  }
}

type Listener = () => void;
let onSignedOut: Listener = () => {};

/** Sets what happens when the API says that the session has ended. */
export function whenSignedOut(listener: Listener): void {
  onSignedOut = listener;
}

/**
 * Calls an operation of the API with the session's cookie, and returns the response's body.
 * @throws ApiError
 */
export function call<Name extends OperationName>(
  name: Name,
  options: CallOptions = {},
): Promise<Operations[Name]["response"]> {
  return callPath(name, options) as Promise<Operations[Name]["response"]>;
}

/**
 * Calls an operation that the generated types do not have. `name` is method and path, with `{name}` for parameters.
 * @throws ApiError
 */
export async function callPath(name: string, options: CallOptions = {}): Promise<unknown> {
  const response = await send(name, options);
  const text = await response.text();
  const body = parse(text);
  if (!response.ok) throw readError(response, body);
  if (body === undefined)
    throw new ApiError("The response is not JSON.", response.status, "unreachable", null, null);
  return body;
}

async function send(name: string, { params = {}, query = {}, body, signal }: CallOptions): Promise<Response> {
  const [method = "GET", path = ""] = name.split(" ");
  const timeout = AbortSignal.timeout(CALL_MS);
  try {
    return await fetch(atBase(fillPath(path, params)) + printQuery(query), {
      method,
      credentials: "same-origin",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      // The API takes changes of a session only as JSON.
      headers: method === "GET" ? {} : { "content-type": "application/json" },
      body: body === undefined ? (method === "GET" ? null : "{}") : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const isTimeout = timeout.aborted;
    const message = isTimeout
      ? "The gateway did not answer within 30 seconds."
      : "The gateway could not be reached. Check that it runs and that the network is up.";
    throw new ApiError(message, 0, "unreachable", null, null);
  }
}

function parse(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly type?: string;
    readonly metadata?: { readonly field?: string; readonly [name: string]: unknown };
  };
}

function readError(response: Response, body: unknown): ApiError {
  const { status } = response;
  const { error } = (body ?? {}) as ErrorBody;
  if (status === 401) onSignedOut();
  return new ApiError(
    error?.message ?? `The gateway answered with status ${status}.`,
    status,
    error?.type ?? "internal_error",
    error?.metadata?.field ?? null,
    response.headers.get("x-request-id"),
    error?.metadata,
  );
}

function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** Returns the query string with its question mark; empty without values. */
export function printQuery(query: Readonly<Record<string, QueryValue>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
