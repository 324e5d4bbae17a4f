/** The text of a catalog source, or why it is not available. */
export type FetchedSource = { readonly text: string } | { readonly refused: string };

/** Fetches a URL. Never throws. */
export type FetchSource = (url: string) => Promise<FetchedSource>;

/** The largest source. */
export const SOURCE_BYTES = 64 * 1024 * 1024;
const SOURCE_TIMEOUT_MS = 30_000;
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Creates a fetcher for catalog sources: https only (http to this machine), without redirects, and bounded in bytes and
 * time, so that a wrong URL can neither block nor fill the process.
 */
export function createFetchSource(
  bounds: { readonly bytes?: number; readonly timeoutMs?: number } = {},
): FetchSource {
  const { bytes = SOURCE_BYTES, timeoutMs = SOURCE_TIMEOUT_MS } = bounds;
  return async (url) => {
    const address = URL.parse(url);
    if (address === null) return { refused: "is not a URL" };
    if (!isAllowed(address)) return { refused: "is not an https URL" };
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
    return { refused: `answers with a redirect (${response.status}); redirects are not followed` };
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
