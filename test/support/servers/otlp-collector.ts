/** A span as OTLP's JSON encoding has it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  /** The attributes by their keys; numbers as numbers. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A metric as OTLP's JSON encoding has it. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read what they expect.
  readonly [kind: string]: any;
}

/** A collector on a free port that keeps what it receives. */
export interface TestCollector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly metrics: ReceivedMetric[];
  /** The resource attributes of the last export. */
  readonly resource: Readonly<Record<string, unknown>>;
  /** Every body, decompressed. */
  readonly bodies: string[];
  readonly requests: { readonly path: string; readonly headers: Headers }[];
  /** Answers the next requests, one each, instead of taking them. */
  readonly answers: Response[];
  stop(): Promise<void>;
}

/** Starts a collector of OTLP over HTTP. */
export function startTestCollector(): TestCollector {
  const received = {
    spans: [] as ReceivedSpan[],
    metrics: [] as ReceivedMetric[],
    resource: {} as Record<string, unknown>,
    bodies: [] as string[],
    requests: [] as { path: string; headers: Headers }[],
    answers: [] as Response[],
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      received.requests.push({ path: new URL(request.url).pathname, headers: request.headers });
      const bytes = new Uint8Array(await request.arrayBuffer());
      const isGzipped = request.headers.get("content-encoding") === "gzip";
      const body = new TextDecoder().decode(isGzipped ? Bun.gunzipSync(bytes) : bytes);
      received.bodies.push(body);
      const answer = received.answers.shift();
      if (answer !== undefined) return answer;
      take(received, JSON.parse(body));
      return Response.json({ partialSuccess: {} });
    },
  });
  return Object.assign(received, {
    url: `http://127.0.0.1:${server.port}`,
    stop: () => server.stop(true),
  });
}

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON.
function take(received: { spans: unknown[]; metrics: unknown[]; resource: unknown }, body: any): void {
  for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
    received.resource = readAttributes(resource.attributes);
    for (const { spans } of scopeSpans)
      for (const span of spans) received.spans.push({ ...span, attributes: readAttributes(span.attributes) });
  }
  for (const { resource, scopeMetrics } of body.resourceMetrics ?? []) {
    received.resource = readAttributes(resource.attributes);
    for (const { metrics } of scopeMetrics) received.metrics.push(...metrics);
  }
}

type EncodedValue = Readonly<Record<string, unknown>>;

function readAttributes(attributes: readonly { key: string; value: EncodedValue }[]) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: EncodedValue): unknown {
  if ("intValue" in value) return Number(value["intValue"]);
  if ("arrayValue" in value) return (value["arrayValue"] as { values: EncodedValue[] }).values.map(readValue);
  return Object.values(value)[0];
}
