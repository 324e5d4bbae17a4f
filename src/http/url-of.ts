/** The address of a request. It has no host where an HTTP/1.0 client sends none; nothing here asks for it. */
export function urlOf(request: Request): URL {
  return new URL(request.url, "http://host.invalid");
}
