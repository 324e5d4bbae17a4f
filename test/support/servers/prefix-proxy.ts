/** A reverse proxy that serves another server below a path, as `location /gateway/ { proxy_pass http://gateway/; }` of nginx does. */
export interface PrefixProxy {
  /** The address of the other server for browsers, without a slash at its end. */
  readonly url: string;
  /** The paths that were asked for outside of the prefix: another site has them. */
  readonly strays: string[];
  /** Sets the address of the other server. */
  forwardTo(target: string): void;
  stop(): void;
}

/** Starts a proxy for a path such as `/gateway`. It removes the path, and forwards the host as the browser sent it. */
export function startPrefixProxy(prefix: string): PrefixProxy {
  let target = "";
  const strays: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (!pathname.startsWith(`${prefix}/`)) {
        strays.push(pathname);
        return new Response("another site", { status: 404 });
      }
      const { method, headers, signal } = request;
      const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
      const to = target + pathname.slice(prefix.length) + search;
      const answer = await fetch(to, {
        method,
        headers,
        body,
        signal,
        redirect: "manual",
        decompress: false,
      });
      return new Response(answer.body, { status: answer.status, headers: answer.headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}${prefix}`,
    strays,
    forwardTo(address) {
      target = address;
    },
    stop: () => void server.stop(true),
  };
}
