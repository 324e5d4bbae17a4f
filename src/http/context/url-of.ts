/** The origin of every URL that `urlOf` returns. Nothing reads it. */
const ORIGIN = "http://host.invalid";

/**
 * Returns path and query of a request as a URL, without the host that the client sent. Never throws: `request.url` contains that host
 * without validation, and is a bare path if there is none.
 */
export function urlOf({ url }: Pick<Request, "url">): URL {
  return new URL(ORIGIN + targetOf(url));
}

/** Returns the part of a URL after the host. It begins with a slash. */
function targetOf(url: string): string {
  if (url.startsWith("/")) return url;
  const host = url.indexOf("://");
  const path = url.indexOf("/", host < 0 ? 0 : host + "://".length);
  return path < 0 ? "/" : url.slice(path);
}
