/** A source's text, or why there is none. */
export type FetchedSource = { readonly text: string } | { readonly refused: string };

/** Fetches a URL. Never throws. */
export type FetchSource = (url: string) => Promise<FetchedSource>;

const SOURCE_BYTES = 64 * 1024 * 1024;
const SOURCE_TIMEOUT_MS = 30_000;
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Makes a fetcher for catalog sources: https only (plain http to this machine), no redirects, bounded in bytes and
 * time, so that a wrong address can neither hang nor fill the process.
 */
export function createFetchSource(
  bounds: { readonly bytes?: number; readonly timeoutMs?: number } = {},
): FetchSource {
  const { bytes = SOURCE_BYTES, timeoutMs = SOURCE_TIMEOUT_MS } = bounds;
  return async (url) => {
    const address = URL.parse(url);
    if (address === null) return { refused: "is not an address" };
    if (!isAllowed(address)) return { refused: "is not an https address" };
    try {
      const response = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
      return await readResponse(response, bytes);
    } catch (error) {
      return { refused: describeFailure(error as Error, timeoutMs) };
    }
  };
}

function isAllowed(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname));
}

async function readResponse(response: Response, bytes: number): Promise<FetchedSource> {
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    return { refused: `answers with a redirect (${response.status}), which is not followed` };
  }
  if (!response.ok) {
    await response.body?.cancel();
    return { refused: `answers ${response.status}` };
  }
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of response.body ?? []) {
    total += chunk.length;
    if (total > bytes) return { refused: `is larger than ${bytes} bytes` };
    chunks.push(chunk);
  }
  return { text: new TextDecoder().decode(Buffer.concat(chunks)) };
}

function describeFailure(error: Error, timeoutMs: number): string {
  return error.name === "TimeoutError"
    ? `does not answer within ${timeoutMs} ms`
    : `cannot be fetched: ${error.message}`;
}
