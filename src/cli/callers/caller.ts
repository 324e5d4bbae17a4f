import { GatewayError } from "../../base/failures/errors.ts";
import type { Endpoint } from "../../http/api/endpoint.ts";

/** The input of a call, by its places in a request. Undefined values count as absent. */
export interface EndpointInput {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The answer of an endpoint. */
export interface CommandAnswer {
  readonly status: number;
  /** Parsed JSON, or the text of a CSV file. */
  readonly body: unknown;
  /** The reason why an answer is incomplete; absent if it is complete. */
  readonly warning?: string;
}

/** A gateway has rejected a request. The message is the gateway's. */
export class GatewayRejection extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** The gateway's name of the error, such as `not_found`; null if the response has none. */
    readonly type: string | null,
  ) {
    super(message);
    this.name = "GatewayRejection";
  }
}

/** Calls endpoints for a command: on the stores in this process, or at a running gateway. */
export interface Caller {
  /** The address of the gateway; null for the stores. */
  readonly url: string | null;
  /** The PostgreSQL database that the command itself works on; null for SQLite, and for a gateway. */
  readonly database: string | null;
  /**
   * Calls an endpoint. `timeoutMs` is the longest wait for a gateway; 30 s by default.
   * @throws GatewayError, GatewayRejection, GatewayUnreachable.
   */
  call(endpoint: Endpoint, input: Partial<EndpointInput>, timeoutMs?: number): Promise<CommandAnswer>;
}

/** Reads the response of an endpoint. */
export async function readAnswer(response: Response): Promise<CommandAnswer> {
  const { status, headers } = response;
  const isText = headers.get("content-type")?.startsWith("text/") === true;
  const warning = headers.get("x-gateway-warning");
  return {
    status,
    body: isText ? await response.text() : await response.json(),
    ...(warning === null ? {} : { warning }),
  };
}

/** An endpoint whose list has pages. */
interface Page {
  readonly data: readonly unknown[];
  readonly next?: string | null;
}

/** The maximum number of rows of a page. */
const PAGE_ROWS = 100;

/** Returns up to `limit` rows of a list, page by page. */
export async function listRows(
  caller: Caller,
  endpoint: Endpoint,
  { query = {}, ...input }: Partial<EndpointInput> & { readonly limit?: number },
): Promise<readonly unknown[]> {
  const { limit = Number.POSITIVE_INFINITY, ...rest } = input;
  const rows: unknown[] = [];
  for (let after: string | null | undefined; after !== null && rows.length < limit; ) {
    const page = { limit: Math.min(PAGE_ROWS, limit - rows.length), after };
    const { body } = await caller.call(endpoint, { ...rest, query: { ...query, ...page } });
    const { data, next = null } = body as Page;
    rows.push(...data);
    after = next;
  }
  return rows;
}

/** Returns the `data` of one resource, or null if no resource has the parameters. */
export async function findOne(
  caller: Caller,
  endpoint: Endpoint,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  try {
    const { body } = await caller.call(endpoint, { params });
    return (body as { readonly data: unknown }).data;
  } catch (error) {
    if (isRejection(error)) return null;
    throw error;
  }
}

/** Returns whether the resource is unknown or its id is invalid. */
function isRejection(error: unknown): boolean {
  const type =
    error instanceof GatewayError
      ? error.failure.code
      : error instanceof GatewayRejection
        ? error.type
        : null;
  return type === "not_found" || type === "invalid_request";
}
