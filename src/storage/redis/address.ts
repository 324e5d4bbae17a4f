/** A server: a host and port, or the socket of this machine. */
export type RedisHost =
  | { readonly host: string; readonly port: number; readonly path: null }
  | { readonly host: null; readonly port: null; readonly path: string };

/** Where the servers are, and how to sign in. */
export interface RedisAddress {
  /** One server; several are members of one Redis Cluster. */
  readonly hosts: readonly RedisHost[];
  readonly isTls: boolean;
  /** Null for the default user. */
  readonly user: string | null;
  /** Null for no password. */
  readonly password: string | null;
  /** The number of the database. */
  readonly database: number;
}

/** A text that is not an address of a Redis server. `message` says what is wrong, and what is allowed. */
export class RedisAddressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RedisAddressError";
  }
}

const DEFAULT_PORT = 6379;
const MAX_PORT = 65_535;
const MAX_DATABASE = 1_000_000;
const FORMS =
  "redis://user:password@host:port, rediss://… for TLS, redis+unix:///path/to/socket, or redis://host:port,host:port for a Redis Cluster";
const SENTINEL = `is the address of a Sentinel, and Sentinel is not supported: give the address of the master, by a name or proxy that follows it, or use a Redis Cluster. Supported: ${FORMS}`;
const URL_PARTS = /^([a-z+-]+):\/\/(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;

/** Parses the URL of a server, of a socket, or of several members of a cluster. @throws RedisAddressError */
export function parseRedisAddress(text: string): RedisAddress {
  const [, scheme = "", userInfo, authority = "", path = "", query, fragment] = URL_PARTS.exec(text) ?? [];
  const kind = scheme.toLowerCase();
  if (kind.includes("sentinel")) throw new RedisAddressError(SENTINEL);
  if (!SCHEMES.has(kind))
    throw new RedisAddressError(`must be the URL of a Redis server: redis://… Supported: ${FORMS}`);
  if (query !== undefined && query !== "" && !kind.endsWith("unix")) {
    if (/sentinel|master/i.test(query)) throw new RedisAddressError(SENTINEL);
    throw new RedisAddressError(`has parameters (?…), and none is known. ${ENCODE}`);
  }
  if (fragment !== undefined) throw new RedisAddressError(`has a "#". ${ENCODE}`);
  const [user, password] = readUserInfo(userInfo);
  const common = { isTls: kind === "rediss", user, password };
  if (kind.endsWith("unix")) return { ...common, ...readSocket(authority, path, query) };
  const hosts = authority.split(",").map(readHost);
  return { ...common, hosts, database: readDatabase(path.slice(1)) };
}

const SCHEMES: ReadonlySet<string> = new Set(["redis", "rediss", "redis+unix", "unix"]);
const ENCODE =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
  "In a user name or password, write / ? # @ : % as %2F %3F %23 %40 %3A %25, or refer to a file in gateway.yaml, which is encoded: redis://:${file:/path}@host";

function readUserInfo(text: string | undefined): [user: string | null, password: string | null] {
  if (text === undefined || text === "") return [null, null];
  const colon = text.indexOf(":");
  // `redis://secret@host` is a user without a password.
  const [user, password] = colon === -1 ? [text, null] : [text.slice(0, colon), text.slice(colon + 1)];
  return [decode(user) || null, password === null ? null : decode(password) || null];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisAddressError(`has a "%" that is no encoded character. ${ENCODE}`);
  }
}

function readHost(text: string): RedisHost {
  const [, host, port] = /^(\[[0-9a-f:.%]+\]|[a-z0-9._-]+)(?::(\d+))?$/i.exec(text) ?? [];
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (host === undefined || number < 1 || number > MAX_PORT)
    throw new RedisAddressError(`has no host and port after "://" or "@". ${ENCODE}`);
  return { host: host.replace(/^\[|\]$/g, ""), port: number, path: null };
}

function readDatabase(text: string): number {
  if (text === "") return 0;
  if (!/^\d+$/.test(text) || Number(text) > MAX_DATABASE)
    throw new RedisAddressError(`has something else than the number of a database after the host. ${ENCODE}`);
  return Number(text);
}

/** `redis+unix:///path/to/socket?db=2`. */
function readSocket(
  authority: string,
  path: string,
  query: string | undefined,
): Pick<RedisAddress, "hosts" | "database"> {
  if (authority !== "" || path === "" || path === "/")
    throw new RedisAddressError("must name the socket by its whole path: redis+unix:///path/to/socket");
  const [, database] = /^db=(\d+)$/.exec(query ?? "db=0") ?? [];
  if (database === undefined)
    throw new RedisAddressError("may have only the parameter db: redis+unix:///path/to/socket?db=2");
  return { hosts: [{ host: null, port: null, path: decode(path) }], database: readDatabase(database) };
}

/** Names a server in messages: without user, password and database. */
export function formatHost({ host, port, path }: RedisHost): string {
  if (path !== null) return path;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Names the servers of an address in messages. */
export function formatRedisAddress({ hosts, isTls }: RedisAddress): string {
  const scheme = hosts[0]?.path === null ? `redis${isTls ? "s" : ""}` : "redis+unix";
  return `${scheme}://${hosts.map(formatHost).join(",")}`;
}
