import { urlOf } from "./url-of.ts";

/** A response body that is ready to be sent, with its entity tag. */
export interface PreparedResponse {
  /** A blob, which the runtime sends without copying it. */
  readonly body: Blob;
  readonly bytes: number;
  readonly etag: string;
}

/** A list that is ready to be sent. */
export interface PreparedList extends PreparedResponse {
  /** Number of its items. */
  readonly count: number;
}

/** Prepares a list. Leaves out nulls. */
export function prepareList(items: readonly unknown[]): PreparedList {
  return prepareTexts(items.filter((item) => item !== null).map((item) => JSON.stringify(item)));
}

/** Prepares a list of items that are JSON texts. It is whole: there is no next page. */
export function prepareTexts(items: readonly string[]): PreparedList {
  const count = `"links":{"next":null},"total_count":${items.length}`;
  return { ...prepareText(`{"object":"list","data":[${items.join(",")}],${count}}`), count: items.length };
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

/**
 * Returns a response with the part of a list that `offset` and `limit` of the request select. Without either, or if they are not numbers,
 * it contains the whole list.
 */
export async function jsonPart(request: Request, list: PreparedList): Promise<Response> {
  const { searchParams } = urlOf(request);
  const offset = readNumber(searchParams.get("offset")) ?? 0;
  const limit = readNumber(searchParams.get("limit")) ?? list.count;
  if (offset === 0 && limit >= list.count) return jsonList(request, list);
  const whole = JSON.parse(await list.body.text()) as { readonly data: readonly unknown[] };
  return Response.json({ ...whole, data: whole.data.slice(offset, offset + limit) });
}

function readNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
