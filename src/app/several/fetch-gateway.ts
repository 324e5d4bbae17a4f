/** The runtime takes the proxy of a request from the environment, unless it is `false`. */
type Proxied = RequestInit & { readonly proxy?: false };

/**
 * Sends a request to a gateway. A gateway on this machine is called without the proxy of HTTP_PROXY, which could not reach it, or would
 * reach another one. `isOwn`: the address comes from this machine's configuration.
 */
export function fetchGateway(
  url: string,
  init: RequestInit,
  isOwn = isLoopback(new URL(url).hostname),
): Promise<Response> {
  const options: Proxied = isOwn ? { ...init, proxy: false } : init;
  return fetch(url, options);
}

/** Returns whether a host name means this machine. */
function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/i.test(
    hostname,
  );
}
