/** An event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string | null;
  /** Parsed JSON. */
  readonly data: unknown;
}

/** A stream of server-sent events that is being read. */
export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** The events so far. */
  readonly events: StreamEvent[];
  /** The text so far. */
  text(): string;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  /** Leaves. */
  close(): void;
}

/** Opens a stream of server-sent events. Resolves when its head has come. */
export async function openEventStream(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<OpenStream> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  const events: StreamEvent[] = [];
  let text = "";
  let parsed = 0;
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      for (let end = text.indexOf("\n\n", parsed); end >= 0; end = text.indexOf("\n\n", parsed)) {
        const event = parseBlock(text.slice(parsed, end));
        if (event !== null) events.push(event);
        parsed = end + 2;
      }
    }
  };
  const { status, headers: responseHeaders } = response;
  const ended = read().catch(() => {});
  return { status, headers: responseHeaders, events, text: () => text, ended, close: () => leaving.abort() };
}

/** Returns null for a block without data. */
function parseBlock(block: string): StreamEvent | null {
  const fields = new Map(
    block.split("\n").map((line) => [line.split(": ", 1)[0], line.replace(/^\w+: /, "")]),
  );
  const data = fields.get("data");
  if (data === undefined) return null;
  return { event: fields.get("event") ?? "message", id: fields.get("id") ?? null, data: JSON.parse(data) };
}
