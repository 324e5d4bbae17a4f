/** The address of a request. `request.url` is a bare path where the client sends no host or an invalid one; no caller reads the host. */
export function urlOf(request: Request): URL {
  return new URL(request.url, "http://host.invalid");
}
