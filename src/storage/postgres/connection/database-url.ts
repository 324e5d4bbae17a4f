import { statSync } from "node:fs";
import { userInfo } from "node:os";

/** The modes of TLS, as libpq names them. */
const TLS_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
type TlsMode = (typeof TLS_MODES)[number];

/** How connections are encrypted. */
interface DatabaseTls {
  readonly mode: TlsMode;
  /** Files in PEM, by the parameter that named them: certificates of authorities, of the client, and its key. */
  readonly files: Readonly<Partial<Record<"sslrootcert" | "sslcert" | "sslkey", string>>>;
  /** The passphrase of the client's key. */
  readonly passphrase: string | null;
}

/** The parts of the URL of a PostgreSQL database. */
export interface DatabaseUrl {
  /** The host, or the folder of a unix socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | null;
  readonly database: string;
  readonly tls: DatabaseTls;
  readonly channelBinding: "disable" | "prefer" | "require";
  /** Settings of each connection, such as `search_path`. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Why a text is not the URL of a database that the gateway can use. `message` completes a sentence about the text: `must …`. */
export class DatabaseUrlError extends Error {}

const FORM =
  "postgres://user:password@host:port/database, or postgres://user@/database?host=/folder for a unix socket";
const DEFAULT_PORT = 5432;
const ENCODE =
  "has special characters in its user or password: write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25, or set database.password_file";

const URL_PARTS = /^postgres(?:ql)?:\/\/([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?(#.*)?$/s;

/** Parameters that also set a part that precedes them in a URL, as in libpq. */
const PLACES = ["host", "port", "user", "password", "dbname"] as const;
const FILES = ["sslrootcert", "sslcert", "sslkey"] as const;
/** Passed to the server. */
const SETTINGS = ["application_name", "options", "search_path"];
/** Parameters of libpq that have no meaning here and do not affect which database is meant. */
const WITHOUT_EFFECT =
  /^(keepalives.*|tcp_user_timeout|connect_timeout|fallback_application_name|sslcompression|load_balance_hosts)$/;
const TAKEN = [...PLACES, "sslmode", ...FILES, "sslpassword", "channel_binding", ...SETTINGS];

/**
 * Parses the URL of a PostgreSQL database. Reads nothing else, neither the variables of libpq (`PGHOST`, `PGDATABASE`, `PGOPTIONS` …) nor
 * its files, so that a URL always means the same database.
 * @throws DatabaseUrlError
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const [, authority = "", path = "", query = "", fragment] = URL_PARTS.exec(text) ?? [];
  if (!URL_PARTS.test(text))
    throw new DatabaseUrlError(`must be the URL of a PostgreSQL server: postgres://…, as in ${FORM}`);
  if (fragment !== undefined) throw new DatabaseUrlError(ENCODE);
  const at = authority.lastIndexOf("@");
  if (at < 0 && `${path}${query}`.includes("@")) throw new DatabaseUrlError(ENCODE);
  const parameters = readParameters(query);
  const [user, password] = splitOnce(authority.slice(0, Math.max(0, at)), ":");
  const place = readPlace(authority.slice(at + 1), parameters);
  const named = {
    user: (parameters.get("user") ?? decode(user, "user")) || findOwnUser(),
    database: parameters.get("dbname") ?? decode(path.slice(1), "database"),
  };
  if (named.user === "") throw new DatabaseUrlError(`names no user: ${FORM}`);
  if (named.database === "") throw new DatabaseUrlError(`names no database: ${FORM}`);
  return {
    ...place,
    ...named,
    password: parameters.get("password") ?? (password === null ? null : decode(password, "password")),
    tls: readTls(parameters, place.host),
    channelBinding: readChannelBinding(parameters),
    settings: Object.fromEntries(SETTINGS.flatMap((name) => entryOf(parameters, name))),
  };
}

/** Returns the user of this process, as whom a URL without a user connects; empty if it has no name. */
function findOwnUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

/** Names a database in messages, without user and password. */
export function nameDatabase(url: string): string {
  const { host, port, database } = parseDatabaseUrl(url);
  const name = encodeURIComponent(database);
  return isSocket(host)
    ? `postgres:///${name}?host=${host}${port === DEFAULT_PORT ? "" : `&port=${port}`}`
    : `postgres://${host.includes(":") ? `[${host}]` : host}${port === DEFAULT_PORT ? "" : `:${port}`}/${name}`;
}

/** Returns whether a host is the folder of a unix socket. */
export function isSocket(host: string): boolean {
  return host.startsWith("/");
}

/** Returns a URL with another password. */
export function withPassword(url: string, password: string): string {
  const [, authority = ""] = URL_PARTS.exec(url) ?? [];
  const at = authority.lastIndexOf("@");
  const [user] = splitOnce(authority.slice(0, Math.max(0, at)), ":");
  const changed = `${user}:${encodeURIComponent(password)}@${authority.slice(at + 1)}`;
  return url.replace(`//${authority}`, () => `//${changed}`);
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split("&").filter((text) => text !== "")) {
    const [name = "", value = ""] = splitOnce(pair, "=").map((text) => decode(text ?? "", "parameters"));
    if (WITHOUT_EFFECT.test(name)) continue;
    if (name === "target_session_attrs" && value === "any") continue;
    if (name === "target_session_attrs")
      throw new DatabaseUrlError(`has target_session_attrs=${value}, which needs several hosts. ${ONE_HOST}`);
    if (!TAKEN.includes(name))
      throw new DatabaseUrlError(
        `has the parameter ${name}, which is not one of ${TAKEN.join(", ")}. Settings of the server are set by options=-c%20name%3Dvalue`,
      );
    if (parameters.has(name)) throw new DatabaseUrlError(`has the parameter ${name} twice`);
    parameters.set(name, value);
  }
  return parameters;
}

const ONE_HOST =
  "The gateway connects to one host: name the one that always leads to the primary, such as a DNS name, a proxy or PgBouncer";

/** Reads where the server is: from the URL, or from the parameters `host` and `port`. */
function readPlace(
  authority: string,
  parameters: ReadonlyMap<string, string>,
): Pick<DatabaseUrl, "host" | "port"> {
  const written = parameters.get("host") ?? authority;
  if (written.includes(",")) throw new DatabaseUrlError(`names several hosts. ${ONE_HOST}`);
  const inBrackets = /^\[([^\]]+)\](?::(.*))?$/s.exec(authority);
  const [name, after] = splitOnce(authority, ":");
  const host = parameters.get("host") ?? (inBrackets === null ? decode(name, "host") : (inBrackets[1] ?? ""));
  const port = parameters.get("port") ?? (inBrackets === null ? after : inBrackets[2]) ?? "";
  if (host === "") throw new DatabaseUrlError(`names no host: ${FORM}`);
  if (!isSocket(host) && !HOST.test(host)) throw new DatabaseUrlError(ENCODE);
  if (port !== "" && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
    throw new DatabaseUrlError("has a port that is no number from 1 to 65535");
  return { host, port: port === "" ? DEFAULT_PORT : Number(port) };
}

const HOST = /^[\p{L}\p{N}._:%-]+$/u;

function readTls(parameters: ReadonlyMap<string, string>, host: string): DatabaseTls {
  const given = parameters.get("sslmode");
  if (given !== undefined && !(TLS_MODES as readonly string[]).includes(given))
    throw new DatabaseUrlError(`has sslmode=${given}, which is not one of ${TLS_MODES.join(", ")}`);
  const root = parameters.get("sslrootcert");
  const mode = (given as TlsMode | undefined) ?? (root === undefined ? "disable" : "verify-full");
  const files = Object.fromEntries(FILES.flatMap((name) => entryOf(parameters, name)));
  if (isSocket(host)) {
    if (given !== undefined && !["disable", "allow", "prefer"].includes(given))
      throw new DatabaseUrlError(`has sslmode=${given}, but a unix socket is not encrypted: remove it`);
    return { mode: "disable", files: {}, passphrase: null };
  }
  if (root !== undefined && ["disable", "allow", "prefer"].includes(mode))
    throw new DatabaseUrlError(
      `has sslrootcert, which sslmode=${mode} does not use: set sslmode=verify-full or verify-ca`,
    );
  if (root === "system" && mode !== "verify-full")
    throw new DatabaseUrlError("has sslrootcert=system, which needs sslmode=verify-full");
  if ((files.sslcert === undefined) !== (files.sslkey === undefined))
    throw new DatabaseUrlError("must have both sslcert and sslkey, or neither");
  for (const name of FILES) requireFile(name, files[name]);
  // As in libpq: with a certificate at hand, the server's is checked against it.
  const isChecked = root !== undefined && mode === "require";
  const { sslrootcert, ...others } = files;
  return {
    mode: isChecked ? "verify-ca" : mode,
    files: root === "system" || sslrootcert === undefined ? others : { ...others, sslrootcert },
    passphrase: parameters.get("sslpassword") ?? null,
  };
}

function requireFile(name: string, path: string | undefined): void {
  if (path === undefined || (name === "sslrootcert" && path === "system")) return;
  if (!(statSync(path, { throwIfNoEntry: false })?.isFile() ?? false))
    throw new DatabaseUrlError(`has ${name}=${path}, which is not a file`);
}

function readChannelBinding(parameters: ReadonlyMap<string, string>): DatabaseUrl["channelBinding"] {
  const given = parameters.get("channel_binding") ?? "disable";
  if (given === "disable" || given === "prefer" || given === "require") return given;
  throw new DatabaseUrlError(`has channel_binding=${given}, which is not one of disable, prefer, require`);
}

function entryOf(parameters: ReadonlyMap<string, string>, name: string): [string, string][] {
  const value = parameters.get(name);
  return value === undefined || value === "" ? [] : [[name, value]];
}

function splitOnce(text: string, separator: string): [string, string | null] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlError(`has a % in its ${part} that begins no percent-encoding: write % as %25`);
  }
}
