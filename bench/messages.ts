/** What the bench and its two helper processes, the upstream and the load generator, say to each other. */

/** Which conversation a request carries; `bodies.ts` makes them. */
export type BodyKind = "small" | "large";

/** The APIs that the load speaks. */
export type ClientApi = "chat" | "messages" | "responses";

/** The formats that the upstream answers in. */
export type VendorFormat = ClientApi | "gemini";

/** How the upstream answers from now on. One measurement runs at a time, so one setting serves all. */
export interface AnswerSetting {
  readonly stream: boolean;
  /** Content events of a stream; ignored for a plain answer. */
  readonly events: number;
  /** Pause between events; 0 sends the whole stream in one burst. */
  readonly intervalMs: number;
  /** Wait before the first byte of the answer. */
  readonly latencyMs: number;
  /** Word that stands in the last content of every answer, so that an old or cut answer is noticed. */
  readonly marker: string;
}

/** What reached the upstream since its setting last changed. */
export interface UpstreamCount {
  readonly requests: number;
  readonly bodyBytes: number;
  /** The most paced streams that were being given at the same moment. */
  readonly peakStreams: number;
}

export type UpstreamCommand =
  | { readonly kind: "set"; readonly setting: AnswerSetting }
  | { readonly kind: "count" };

export type UpstreamReply =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "set" }
  | { readonly kind: "count"; readonly count: UpstreamCount };

/** Where requests go and what they say there. */
export interface Door {
  /** What is spoken there. */
  readonly api: ClientApi;
  /** What the upstream behind it speaks. */
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
  /** What a right answer carries: `AnswerSetting.marker`, and for a stream the number of content events. */
  readonly marker: string;
  readonly events: number;
  /** Closed loop: connections that each send as soon as they are answered. Open loop: the most there may be. */
  readonly connections: number;
  /** Requests a second on a fixed schedule; 0 for a closed loop. */
  readonly ratePerSecond: number;
  readonly maxRequests: number;
  readonly durationMs: number;
  /** How long answers may take to arrive after the last request was sent. */
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
  /** Answers that were not right, by what was wrong with them. Empty means that the figures may be used. */
  readonly wrong: Readonly<Record<string, number>>;
  readonly elapsedMs: number;
  readonly requestBytes: number;
  readonly peakInFlight: number;
  /** To the end of the answer. */
  readonly latency: Spread;
  /** To the first content event; zeroes when the answer was no stream. */
  readonly firstToken: Spread;
}

export type LoadReply =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly result: LoadResult }
  | { readonly kind: "failed"; readonly message: string };
