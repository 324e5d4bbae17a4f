import { InvalidArgumentError } from "commander";
import type { Config } from "../../app/config/config-schema.ts";

/**
 * Returns the address at which this machine reaches a gateway with this configuration, without a path.
 * @throws Error if the port is chosen at the start.
 */
export function localUrl({ server: { host, port } }: Config): string {
  if (port === 0)
    throw new Error("The gateway has no fixed port (server.port: 0). Name its address with --url.");
  return reachableUrl(`http://${host.includes(":") ? `[${host}]` : host}:${port}`).origin;
}

/** Returns a URL with the loopback address instead of the address for all interfaces, which a gateway may listen on but no client can call. */
export function reachableUrl(text: string): URL {
  const url = new URL(text);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url;
}

/** Returns a URL as it precedes the gateway's paths: without a slash at its end, query and fragment. A reverse proxy may serve a gateway below a path. */
export function baseOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}

/**
 * Reads the value of `--url`.
 * @throws InvalidArgumentError
 */
export function readUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("It must be an http or https address.");
}
