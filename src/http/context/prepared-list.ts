/** An answer ready to be sent, with the tag by which a client that has it is told so. */
export interface PreparedAnswer {
  /** Sent without being copied. */
  readonly body: Blob;
  readonly bytes: number;
  readonly etag: string;
}

/** A list ready to be sent. */
export type PreparedList = PreparedAnswer;

/** Prepares a list; nulls are left out. */
export function prepareList(items: readonly unknown[]): PreparedList {
  return prepareTexts(items.filter((item) => item !== null).map((item) => JSON.stringify(item)));
}

/** The same of items that are JSON already. */
export function prepareTexts(items: readonly string[]): PreparedList {
  return prepareText(`{"object":"list","data":[${items.join(",")}]}`);
}

/** Prepares a text. */
export function prepareText(text: string): PreparedAnswer {
  const bytes = Buffer.from(text);
  return { body: new Blob([bytes]), bytes: bytes.length, etag: `"${Bun.hash(bytes).toString(36)}"` };
}

/** A text as an answer; 304 for a client that has it already. */
export function sendPrepared(
  request: Request,
  { body, etag }: PreparedAnswer,
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
