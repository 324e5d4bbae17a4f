/** What an official library reads from a stream. */
export interface SdkReading {
  readonly text: string;
  /** Names and parsed arguments of the tool calls, in order. */
  readonly calls: readonly (readonly [name: string, args: unknown])[];
  /** The finish reason in OpenAI's terms. */
  readonly finish: string;
}

/** Returns a fetch function that answers every request with this stream, bytes as Latin-1. */
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
