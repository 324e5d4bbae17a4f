/** A response body that is ready to be sent, with its entity tag. */
export interface PreparedResponse {
  /** A blob, which the runtime sends without copying it. */
  readonly body: Blob;
  readonly bytes: number;
  readonly etag: string;
}

/** Prepares a list. Leaves out nulls. */
export function prepareList(items: readonly unknown[]): PreparedResponse {
  return prepareTexts(items.filter((item) => item !== null).map((item) => JSON.stringify(item)));
}

/** Prepares a list of items that are JSON texts. */
export function prepareTexts(items: readonly string[]): PreparedResponse {
  return prepareText(`{"object":"list","data":[${items.join(",")}]}`);
}

/** Prepares a text. */
export function prepareText(text: string): PreparedResponse {
  const bytes = Buffer.from(text);
  return { body: new Blob([bytes]), bytes: bytes.length, etag: `"${Bun.hash(bytes).toString(36)}"` };
}

/** Returns a response with a prepared body, or 304 if the client has the same version. */
export function sendPrepared(
  request: Request,
  { body, etag }: PreparedResponse,
  more: Readonly<Record<string, string>>,
): Response {
  const headers = { etag, "cache-control": "no-cache" };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => tag.trim().replace(/^W\//, "") === etag))
    return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, ...more } });
}

/** Returns a response with a list, or 304 if the client has the same version. */
export function jsonList(request: Request, list: PreparedResponse): Response {
  return sendPrepared(request, list, { "content-type": "application/json" });
}
