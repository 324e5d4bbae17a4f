import type { Stopwatch } from "../../base/time/stopwatch.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { AppliedPreset, GenerationCall } from "../../core/generation/call/call.ts";
import type { RequestTrace } from "../../core/telemetry/request-trace.ts";
import type { InferenceRequest } from "../../wire/client-apis/request/inference-request.ts";
import type { RequestContext } from "../context/context.ts";
import type { BodyMemory } from "./body-memory.ts";
import { NEVER_LEAVES } from "./outlive-client.ts";
import type { ParsedRequest, RequestParser } from "./parse-with-preset.ts";

/** Who sends a request, and how its bodies are parsed. */
interface Sender {
  readonly principal: InferencePrincipal;
  readonly parser: RequestParser<InferenceRequest>;
  /** Whether the answer is kept for the case that the client repeats its request. */
  readonly isRepeatable: boolean;
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
  private readonly parser: RequestParser<InferenceRequest>;
  private readonly isRepeatable: boolean;

  constructor(
    private readonly received: Request,
    private readonly context: RequestContext,
    readonly memory: BodyMemory,
    { request, preset }: Omit<ParsedRequest<InferenceRequest>, "bodyBytes">,
    { principal, parser, isRepeatable }: Sender,
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
    this.isRepeatable = isRepeatable;
  }

  withBody(body: Buffer): InferenceCall {
    const { received, context, memory, preset, principal, parser, isRepeatable } = this;
    const parsed = { request: parser.parse(body), preset };
    return new InferenceCall(received, context, memory, parsed, { principal, parser, isRepeatable });
  }

  readClientSignal(): AbortSignal {
    return this.isRepeatable ? NEVER_LEAVES : this.received.signal;
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
