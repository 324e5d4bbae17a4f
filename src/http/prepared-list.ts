/** A text ready to be sent, with the tag by which a client that has it is told so. */
export interface PreparedText {
  readonly body: string;
  readonly etag: string;
}

/** A list ready to be sent. */
export type PreparedList = PreparedText;

/** Prepares a text. */
export function prepareText(body: string): PreparedText {
  return { body, etag: `"${Bun.hash(body).toString(36)}"` };
}

/** Prepares a list; nulls are left out. */
export function prepareList(items: readonly unknown[]): PreparedList {
  return prepareText(JSON.stringify({ object: "list", data: items.filter((item) => item !== null) }));
}

/** A text as an answer; 304 for a client that has it already. */
export function sendPrepared(
  request: Request,
  { body, etag }: PreparedText,
  more: Readonly<Record<string, string>>,
): Response {
  const headers = { etag, "cache-control": "no-cache" };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => tag.trim().replace(/^W\//, "") === etag))
    return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, ...more } });
}

/** A list as an answer; 304 for a client that has it already. */
export function jsonList(request: Request, list: PreparedList): Response {
  return sendPrepared(request, list, { "content-type": "application/json" });
}
