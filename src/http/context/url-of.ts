/** Returns the URL of a request. The host is not meaningful: `request.url` is a bare path if the client sends no valid host. */
export function urlOf(request: Request): URL {
  return new URL(request.url, "http://host.invalid");
}
