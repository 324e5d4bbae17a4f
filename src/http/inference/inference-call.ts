import type { Stopwatch } from "../../base/time/stopwatch.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { AppliedPreset, GenerationCall } from "../../core/generation/call/call.ts";
import type { AnswerKeeper } from "../../core/generation/call/extension.ts";
import type { RequestTrace } from "../../core/telemetry/request-trace.ts";
import type { InferenceRequest } from "../../wire/client-apis/request/inference-request.ts";
import type { RequestContext } from "../context/context.ts";
import type { BodyMemory } from "./body-memory.ts";
import type { ParsedRequest, RequestParser } from "./parse-with-preset.ts";

/** Who sends a request, and how its bodies are parsed. */
interface Sender {
  readonly principal: InferencePrincipal;
  readonly parser: RequestParser<InferenceRequest>;
  /** Aborted when the answer is not wanted any more; null: when the client leaves. */
  readonly signal: AbortSignal | null;
  /** See `GenerationCall.longestMs`. */
  readonly longestMs: number | null;
  /** What keeps the answer as a response object; null for none. */
  readonly keeps: AnswerKeeper | null;
}

/**
 * The call of an inference request. A class, because an object with closures costs several times as much per request. It refers to the
 * body by its memory only: a stream keeps the call while it runs, and the body must not stay with it.
 */
export class InferenceCall implements GenerationCall {
  readonly requestId: string;
  readonly principal: InferencePrincipal;
  readonly request: InferenceRequest;
  readonly preset: AppliedPreset | null;
  readonly headers: Headers;
  readonly route: string;
  readonly receivedAt: number;
  readonly stopwatch: Stopwatch;
  readonly trace: RequestTrace | null;
  readonly logFields: Readonly<Record<string, unknown>>;
  readonly keeps: AnswerKeeper | null;
  readonly longestMs: number | null;
  private readonly parser: RequestParser<InferenceRequest>;
  private readonly signal: AbortSignal | null;

  constructor(
    private readonly received: Request,
    private readonly context: RequestContext,
    readonly memory: BodyMemory,
    { request, preset }: Omit<ParsedRequest<InferenceRequest>, "bodyBytes">,
    { principal, parser, signal, keeps, longestMs }: Sender,
  ) {
    this.requestId = context.requestId;
    this.principal = principal;
    this.request = request;
    this.preset = preset;
    this.headers = received.headers;
    this.route = context.route;
    this.receivedAt = context.startedAt;
    this.stopwatch = context.stopwatch;
    this.trace = context.trace;
    this.logFields = context.logFields;
    this.parser = parser;
    this.signal = signal;
    this.longestMs = longestMs;
    this.keeps = keeps;
  }

  withBody(body: Buffer): InferenceCall {
    const { received, context, memory, preset, principal, parser, signal, keeps, longestMs } = this;
    const parsed = { request: parser.parse(body), preset };
    const sender = { principal, parser, signal, keeps, longestMs };
    return new InferenceCall(received, context, memory, parsed, sender);
  }

  readClientSignal(): AbortSignal {
    return this.signal ?? this.received.signal;
  }

  readBody(): Buffer {
    return this.memory.readBody();
  }

  takeMemory(bytes: number): boolean {
    return this.context.bodyShare?.takeExtra(bytes) ?? true;
  }

  onLasting(): void {
    this.context.disableIdleTimeout();
  }

  onEnded(): void {
    this.context.bodyShare?.release();
    this.context.enableIdleTimeout();
  }
}
