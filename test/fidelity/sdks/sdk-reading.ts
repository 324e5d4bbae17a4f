/** What an official library makes of a stream. */
export interface SdkReading {
  readonly text: string;
  /** Names and parsed arguments, in order. */
  readonly calls: readonly (readonly [name: string, args: unknown])[];
  /** In OpenAI's words. */
  readonly finish: string;
}

/** A server that answers anything with this stream, bytes read as Latin-1. */
export function serve(latin1: string): () => Promise<Response> {
  return async () =>
    new Response(Buffer.from(latin1, "latin1"), { headers: { "content-type": "text/event-stream" } });
}

export function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
