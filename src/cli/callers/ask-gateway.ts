import packageJson from "../../../package.json" with { type: "json" };
import type { Config } from "../../app/config/config-schema.ts";
import { loadConfig } from "../../app/config/load-config.ts";
import { fetchGateway } from "../../app/several/fetch-gateway.ts";
import { createOneTimeCode } from "../../core/console/one-time-codes.ts";
import type { Endpoint } from "../../http/api/endpoint.ts";
import { print } from "../render/print.ts";
import { type Caller, type EndpointInput, GatewayRejection, readAnswer } from "./caller.ts";
import { openCommandStores } from "./command-stores.ts";
import { baseOf, localUrl } from "./gateway-url.ts";

/** The options of commands that ask a running gateway. */
export interface GatewayOptions {
  readonly url?: string | undefined;
  /** A management key of the operator. */
  readonly key?: string | undefined;
}

/** A request to the API of a running gateway. */
interface GatewayRequest {
  readonly method: Endpoint["method"];
  /** The path with its query: `/api/admin/health`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The longest wait for the response. Milliseconds; 30 s by default. */
  readonly timeoutMs?: number | undefined;
}

/** No gateway answers at an address: there is no answer, or another program answers. */
class GatewayUnreachable extends Error {
  constructor(url: string, problem: string) {
    super(
      `No gateway answers at ${url}: ${problem}. Start it with \`gateway start\`, or name the address of a running one with --url.`,
    );
    this.name = "GatewayUnreachable";
  }
}

const TIMEOUT_MS = 30_000;
const SESSION_PATH = "/api/console/session";

/** Signs in to the running gateway, runs `work` with a caller of its endpoints, prints what it returns, and signs out. */
export async function withGateway(
  options: GatewayOptions,
  work: (caller: Caller) => Promise<string>,
): Promise<void> {
  const config = loadConfig(process.env);
  const address: GatewayAddress = {
    url: baseOf(options.url ?? localUrl(config)),
    ...(options.url === undefined ? { isOwn: true } : {}),
  };
  await requireGateway(address);
  const key = options.key ?? (process.env["GATEWAY_KEY"] || null);
  if (key !== null) return print(await work(createCaller(address, { authorization: `Bearer ${key}` })));
  const session = await signIn(address, config);
  try {
    print(await work(createCaller(address, session)));
  } finally {
    // The session also expires by itself, and a gateway that has just stopped has no session to end.
    await send(address, { method: "DELETE", path: SESSION_PATH }, session).catch(() => {});
  }
}

/** Where a gateway is. */
interface GatewayAddress {
  readonly url: string;
  /** It comes from this machine's configuration. Absent: its host decides. */
  readonly isOwn?: true;
}

type Credentials = Readonly<Record<string, string>>;

function createCaller(address: GatewayAddress, credentials: Credentials): Caller {
  return {
    url: address.url,
    database: null,
    async call({ method, path }, { params = {}, query = {}, body }, timeoutMs) {
      const request = { method, path: fillPath(path, params) + printQuery(query), body, timeoutMs };
      return readAnswer(await send(address, request, credentials));
    },
  };
}

function fillPath(path: string, params: EndpointInput["params"]): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

function printQuery(query: EndpointInput["query"]): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(
    Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
  ).toString();
  return text === "" ? "" : `?${text}`;
}

/** Checks that a gateway runs, so that no one-time code is created for one that does not. @throws GatewayUnreachable */
async function requireGateway(address: GatewayAddress): Promise<void> {
  const { url } = address;
  const response = await send(address, { method: "GET", path: "/healthz" }, {});
  const { status } = (await response.json()) as { readonly status?: unknown };
  if (status !== "ok") throw new GatewayUnreachable(url, "the response is not that of a gateway");
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

/** Returns a successful response whose body is JSON or CSV. */
async function send(
  { url, isOwn }: GatewayAddress,
  request: GatewayRequest,
  credentials: Credentials,
): Promise<Response> {
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
  const { ok, status, headers } = response;
  const parsed = parseObject(text);
  const isCsv = headers.get("content-type")?.startsWith("text/csv") === true;
  if (ok && (parsed !== null || isCsv)) return new Response(text, { status, headers });
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
