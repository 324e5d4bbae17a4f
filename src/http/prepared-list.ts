/** A list ready to be sent, with the tag by which a client that has it is told so. */
export interface PreparedList {
  /** Sent without being copied. */
  readonly body: Blob;
  readonly bytes: number;
  readonly etag: string;
}

/** Prepares a list; nulls are left out. */
export function prepareList(items: readonly unknown[]): PreparedList {
  return prepareTexts(items.filter((item) => item !== null).map((item) => JSON.stringify(item)));
}

/** The same of items that are JSON already. */
export function prepareTexts(items: readonly string[]): PreparedList {
  const bytes = Buffer.from(`{"object":"list","data":[${items.join(",")}]}`);
  return { body: new Blob([bytes]), bytes: bytes.length, etag: `"${Bun.hash(bytes).toString(36)}"` };
}

/** A list as an answer; 304 for a client that has it already. */
export function jsonList(request: Request, list: PreparedList): Response {
  const headers = { etag: list.etag, "cache-control": "no-cache" };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => tag.trim().replace(/^W\//, "") === list.etag))
    return new Response(null, { status: 304, headers });
  return new Response(list.body, { headers: { ...headers, "content-type": "application/json" } });
}
