/** The messages between the bench and its two helper processes, the upstream and the load generator. */

/** The conversation that a request carries; built by `bodies.ts`. */
export type BodyKind = "small" | "24kB" | "150kB" | "large";

/** The APIs that the load generator speaks. */
export type ClientApi = "chat" | "messages" | "responses";

/** The formats that the upstream answers in. */
export type VendorFormat = ClientApi | "gemini";

/** How the upstream answers from now on. Measurements run one at a time, so one setting serves all. */
export interface AnswerSetting {
  readonly stream: boolean;
  /** Content events of a stream; ignored for a plain answer. */
  readonly events: number;
  /** Pause between events; 0 sends the whole stream in one burst. */
  readonly intervalMs: number;
  /** Delay before the first byte of the answer. */
  readonly latencyMs: number;
  /** A word in the last content of every answer, which reveals old or truncated answers. */
  readonly marker: string;
}

/** What reached the upstream since its setting last changed. */
export interface UpstreamCount {
  readonly requests: number;
  readonly bodyBytes: number;
  /** The maximum of paced streams that were being sent at the same time. */
  readonly peakStreams: number;
}

export type UpstreamCommand =
  | { readonly kind: "set"; readonly setting: AnswerSetting }
  | { readonly kind: "count" };

export type UpstreamReply =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "set" }
  | { readonly kind: "count"; readonly count: UpstreamCount };

/** Where requests are sent, and in which API. */
export interface Door {
  /** The API of the requests. */
  readonly api: ClientApi;
  /** The format of the upstream behind the target. */
  readonly vendor: VendorFormat;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

/** A run of requests, bounded by count and by time. */
export interface LoadOrder {
  readonly door: Door;
  readonly body: BodyKind;
  readonly stream: boolean;
  /** What a right answer contains: `AnswerSetting.marker`, and for a stream the number of content events. */
  readonly marker: string;
  readonly events: number;
  /** Closed loop: the connections, each of which sends again once it is answered. Open loop: the maximum of connections. */
  readonly connections: number;
  /** Requests per second on a fixed schedule; 0 for a closed loop. */
  readonly ratePerSecond: number;
  readonly maxRequests: number;
  readonly durationMs: number;
  /** How long answers may take after the last request was sent. */
  readonly graceMs: number;
}

/** Milliseconds, measured from when a request was due, not from when it was sent. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface LoadResult {
  readonly requests: number;
  /** Wrong answers by what was wrong with them. The figures are valid only if this is empty. */
  readonly wrong: Readonly<Record<string, number>>;
  readonly elapsedMs: number;
  readonly requestBytes: number;
  readonly peakInFlight: number;
  /** Until the end of the answer. */
  readonly latency: Spread;
  /** Until the first content event; zeros if the answer was not a stream. */
  readonly firstToken: Spread;
}

export type LoadReply =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly result: LoadResult }
  | { readonly kind: "failed"; readonly message: string };
