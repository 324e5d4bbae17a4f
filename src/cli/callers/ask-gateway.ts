import type { Command } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import type { Config } from "../../app/config-schema.ts";
import { fetchGateway } from "../../app/fetch-gateway.ts";
import { loadConfig } from "../../app/load-config.ts";
import { createOneTimeCode } from "../../core/console/one-time-codes.ts";
import { print } from "../render/print.ts";
import { openCommandStores } from "./command-stores.ts";
import { baseOf, localUrl, readUrl } from "./gateway-url.ts";

/** The options of commands that ask a running gateway. */
export interface GatewayOptions {
  readonly url?: string;
  readonly key?: string;
}

/** A request to the API of a running gateway. */
export interface GatewayRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path with its query: `/api/admin/health`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The longest wait for the response. Milliseconds; 30 s by default. */
  readonly timeoutMs?: number;
}

/** A running gateway to which a command has signed in. */
export interface AskedGateway {
  /** Its address, without a path. */
  readonly url: string;
  /**
   * Sends a request and returns the parsed JSON of its response.
   * @throws GatewayUnreachable, GatewayRejection.
   */
  ask<Answer>(request: GatewayRequest): Promise<Answer>;
}

/** No gateway answers at an address, or what answers is none. */
export class GatewayUnreachable extends Error {
  constructor(url: string, problem: string) {
    super(
      `No gateway answers at ${url}: ${problem}. Start it with \`gateway start\`, or name the address of a running one with --url.`,
    );
    this.name = "GatewayUnreachable";
  }
}

/** A gateway has rejected a request. The message is that of the gateway. */
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

const TIMEOUT_MS = 30_000;
const SESSION_PATH = "/api/console/session";

/** Adds `--url` and `--key`, by which a command finds a gateway that this machine's configuration does not describe. */
export function addGatewayOptions(command: Command): Command {
  return command
    .option("--url <url>", "Address of the running gateway (default: the configured host and port)", readUrl)
    .option(
      "--key <key>",
      "Management key of the operator (default: GATEWAY_KEY, or a sign-in with a one-time code in the configured stores)",
    );
}

/** Signs in to the running gateway, runs a command on it, prints what the command returns, and signs out. */
export async function withGateway(
  options: GatewayOptions,
  run: (gateway: AskedGateway) => Promise<string>,
): Promise<void> {
  const config = loadConfig(process.env);
  const address: GatewayAddress = {
    url: baseOf(options.url ?? localUrl(config)),
    ...(options.url === undefined ? { isOwn: true } : {}),
  };
  await requireGateway(address);
  const key = options.key ?? (process.env["GATEWAY_KEY"] || null);
  if (key !== null) return print(await run(connect(address, { authorization: `Bearer ${key}` })));
  const session = connect(address, await signIn(address, config));
  try {
    print(await run(session));
  } finally {
    // The session also ends by itself, and a gateway that has just stopped has none to end.
    await session.ask({ method: "DELETE", path: SESSION_PATH }).catch(() => {});
  }
}

/** Where a gateway is. */
interface GatewayAddress {
  readonly url: string;
  /** It is the one of this machine's configuration. Absent: its host tells. */
  readonly isOwn?: true;
}

type Credentials = Readonly<Record<string, string>>;

function connect(address: GatewayAddress, credentials: Credentials): AskedGateway {
  return {
    url: address.url,
    ask: async <Answer>(request: GatewayRequest) =>
      (await send(address, request, credentials)).body as Answer,
  };
}

/** @throws GatewayUnreachable. Asked first, so that no one-time code is created for a gateway that does not run. */
async function requireGateway(address: GatewayAddress): Promise<void> {
  const { url } = address;
  const { body } = await send(address, { method: "GET", path: "/healthz" }, {});
  if (body["status"] !== "ok") throw new GatewayUnreachable(url, "the response is not that of a gateway");
}

/** Signs in as `gateway console` signs a browser in. Returns the headers that identify the session. */
async function signIn(address: GatewayAddress, config: Config): Promise<Credentials> {
  const { url } = address;
  const code = await createCode(config);
  try {
    const request = { method: "POST", path: SESSION_PATH, body: { code } } as const;
    const { headers } = await send(address, request, { origin: url });
    const [cookie] = headers.getSetCookie();
    // Changes with a session need the origin of the gateway, as browsers send it.
    return { cookie: cookie?.split(";")[0] ?? "", origin: url };
  } catch (error) {
    if (error instanceof GatewayRejection)
      throw new GatewayRejection(explain(error), error.status, error.type);
    throw error;
  }
}

function explain({ status, message }: GatewayRejection): string {
  const reason =
    status === 401
      ? "The gateway does not know the one-time code: it has other stores than this configuration."
      : message;
  return `Signing in to the gateway failed. ${reason} Or send a management key of the operator with --key or GATEWAY_KEY.`;
}

async function createCode(config: Config): Promise<string> {
  const stores = await openCommandStores(config);
  try {
    return await createOneTimeCode({ ...stores, store: stores.consoleSessions });
  } finally {
    await stores.close();
  }
}

interface GatewayResponse {
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

async function send(
  { url, isOwn }: GatewayAddress,
  request: GatewayRequest,
  credentials: Credentials,
): Promise<GatewayResponse> {
  const { method, path, body, timeoutMs = TIMEOUT_MS } = request;
  const hasBody = method !== "GET" && method !== "DELETE";
  const init: RequestInit = {
    method,
    headers: { ...HEADERS, ...credentials, ...(hasBody ? JSON_TYPE : {}) },
    ...(hasBody ? { body: JSON.stringify(body ?? {}) } : {}),
    // Credentials are sent to the named address only.
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  };
  let response: Response;
  let text: string;
  try {
    response = await fetchGateway(url + path, init, isOwn);
    text = await response.text();
  } catch (error) {
    throw new GatewayUnreachable(url, describe(error, timeoutMs));
  }
  const parsed = parseObject(text);
  if (response.ok && parsed !== null) return { headers: response.headers, body: parsed };
  throw rejectionOf(url, response, parsed);
}

/** The sessions of the console are listed with the user agent. */
const HEADERS = { accept: "application/json", "user-agent": `gateway-command/${packageJson.version}` };
const JSON_TYPE = { "content-type": "application/json" };

function describe(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === "TimeoutError")
    return `no answer within ${timeoutMs / 1000} s`;
  return error instanceof Error ? error.message.replace(/\.? Is the computer.*|\.$/, "") : String(error);
}

function rejectionOf(
  url: string,
  { status }: Response,
  body: Readonly<Record<string, unknown>> | null,
): GatewayRejection | GatewayUnreachable {
  const error = body?.["error"] as { readonly message?: unknown; readonly type?: unknown } | undefined;
  if (typeof error?.message !== "string")
    return new GatewayUnreachable(url, `the response (HTTP ${status}) is not that of a gateway`);
  return new GatewayRejection(error.message, status, typeof error.type === "string" ? error.type : null);
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
