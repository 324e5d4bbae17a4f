import { type Failure, failureOf } from "../../../base/failures/errors.ts";
import type { Log } from "../../../base/failures/log.ts";
import type { Stopwatch } from "../../../base/time/stopwatch.ts";
import type { AnswerFilter } from "../../../wire/canonical/answer/filter-answer.ts";
import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import type { ReadHeader } from "../../../wire/client-apis/request/session-hints.ts";
import type { RepairCounts } from "../../../wire/conversation/calls/outline.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { Spender } from "../../ledger/holds/hold-book.ts";
import type { ShadowRoute } from "../../named-routes/resolve-names.ts";
import type { RequestTrace } from "../../telemetry/request-trace.ts";
import type { AttemptRecord, ReplayFeature, UsageRecord } from "../../usage/records/records.ts";
import type { RouteStep } from "../../usage/records/route-step.ts";

/** An inference request, as extensions see it. */
export interface AdmittedCall {
  readonly requestId: string;
  readonly principal: InferencePrincipal;
  readonly request: InferenceRequest;
  /** The headers of the request. */
  readonly headers: ReadHeader;
  /**
   * Returns the body as it was received. Its bytes stay unchanged only until the gates have decided, and are released when a stream has
   * begun. Gates read the body of `GatedRequest` instead.
   */
  readBody(): Uint8Array;
  /** What keeps the answer as a response object. Absent or null for most requests. */
  readonly keeps?: AnswerKeeper | null;
  /** Reserves memory until the generation ends. Returns false if none is left. */
  takeMemory(bytes: number): boolean;
  /** The route's path without prefix: `/chat/completions`. */
  readonly route: string;
  /** When the request arrived. Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The stopwatch that runs since the request arrived. The time to receive the body and to wait for providers counts as waiting. */
  readonly stopwatch: Stopwatch;
  /** Null if the request is not traced. */
  readonly trace: RequestTrace | null;
  /** Further fields for the request's log line. */
  readonly logFields: Readonly<Record<string, unknown>>;
}

/** What becomes of an answer as a response object, and what its request has sent. */
export interface AnswerKeeper {
  /** Whether the answer is kept, under the id of the generation that makes it. */
  readonly isKept: boolean;
  /** Whether the client gets the response when it is accepted, and not when it has ended. */
  readonly isBackground: boolean;
  /** The hash of the body as the client has sent it, before it was joined with what it continues; null for a request that is not repeatable. */
  readonly sentHash: string | null;
  /**
   * Begins under the id of the generation, with the body that gates have masked. Resolves to the failure if it may not begin, such as for a
   * conversation that is in use. Rejects with a `StoreError`.
   */
  begin(id: string, readBody: () => Uint8Array): Promise<Failure | null>;
  /** Called before each attempt, when the request is admitted and its money is held. */
  onAttempt(): void;
  /** Begins to keep the answer of a generation as it is streamed. Returns null if the reader of the stream keeps it. */
  openStream(id: string): StreamKeeper | null;
  /** Lets the client get a background response only once `recorded` has resolved. */
  answerAfter(recorded: Promise<void>): void;
  /** Resolves when the response is stored, or when it is known that it will not be. */
  whenEnded(): Promise<void>;
  /** Returns whether the store has a response. Rejects with a `StoreError`. */
  isStored(id: string): Promise<boolean>;
}

/** Keeps a streamed answer, and changes what its client gets. */
export interface StreamKeeper {
  /** Reads the next piece of the answer. Returns what the client gets at once. The bytes may be reused after the call returns. */
  read(piece: Uint8Array): Uint8Array;
  /** Keeps the answer after its last piece. Resolves to the rest that the client gets. Never rejects. */
  end(): Promise<Uint8Array>;
  /** Keeps nothing of an answer whose client does not get its end. Does nothing after `end`. Never rejects. */
  abandon(): Promise<void>;
}

/** A generation that was admitted, as extensions see it. */
export interface AdmittedGeneration {
  readonly id: string;
  readonly call: AdmittedCall;
  /** The spender, which decides the limits and budgets that it counts for. */
  readonly spender: Spender;
  /** Whether nothing of the request may be stored, because the request, its account or the operator demands zero data retention. */
  readonly zeroRetention: boolean;
  /** How named routes led to the first model; empty if the request names a model or tier. */
  readonly namedRoutes: readonly RouteStep[];
  /** The route that gets a copy of the request; null for none, or if rules about its data forbid a copy. */
  readonly shadow: ShadowRoute | null;
  /**
   * Describes the request apart from its body: its API, and the headers that decide which deployment answers. Equal for a repetition of the
   * request.
   */
  describeRequest(): string;
  /**
   * Describes the deployments that may answer, with their overrides. It covers everything that decides them: name, routes, headers,
   * balance, session, policy and catalog. Requests can share an answer only if their descriptions are equal.
   */
  describeChoice(): string;
  /** Lists the ids of the requested model or tier, and of the models that may answer. */
  listModels(): readonly string[];
}

/** A request at a gate, with the changes of earlier gates. */
export interface GatedRequest {
  /** Returns the body. Its bytes stay unchanged only until the gates have decided. */
  readonly readBody: () => Uint8Array;
  /** Returns the body with the settings of its preset. Its bytes stay unchanged only until the gates have decided. */
  readonly readAppliedBody: () => Uint8Array;
}

/** An attempt that is about to begin. */
export interface BeginningAttempt {
  readonly record: AttemptRecord;
  /** The id of the model that is called. */
  readonly model: string;
  /** How the request's tool calls were repaired for this provider; null if nothing had to change. */
  readonly repairs: RepairCounts | null;
}

/** A feature that takes part in generations without being known to `generate`. The wiring lists them in order. */
export interface Extension {
  /** The extension's name in the log. */
  readonly name: string;
  /**
   * Whether it may reject requests for their texts, or change the texts. No vendor may then count the tokens of a request that it has not
   * checked.
   */
  readonly checksTexts?: boolean;
  /** Returns its extension points in this generation; null if it takes no part, which then has no further cost. */
  attach(generation: AdmittedGeneration): ExtensionPoints | null;
}

/**
 * The extension points of one generation, all optional. `beforeRoute` is a gate: it decides how the generation continues, and the
 * generation fails if it throws. The others are observers: their errors are logged and change nothing.
 */
export interface ExtensionPoints {
  /**
   * Called once, after the request was admitted and counted, before it is routed. The request's body is unchanged only
   * until the promise settles. The wait is bounded by the generation's total time.
   */
  beforeRoute?(request: GatedRequest): Promise<GateDecision>;
  /** Called before each attempt. Returns headers to add to the request to the provider; null for none. */
  beforeAttempt?(attempt: BeginningAttempt): Readonly<Record<string, string>> | null;
  /** Called after each attempt, with its outcome at the first token. */
  onAttempt?(attempt: AttemptRecord): void;
  /**
   * Called with each piece of a successful answer, in the client API's format (JSON, or server-sent events), before it is
   * sent. The bytes may be reused after the call returns. Keep-alives and error bodies are left out.
   */
  onText?(delta: Uint8Array): void;
  /** Called before each attempt. Returns the filter of its answer. At most one extension may have one. */
  filterAnswer?(): AnswerFilter;
  /** Called once, after all text, with the final record. `failure` is what the client saw, or null. */
  onSettled?(record: UsageRecord, failure: Failure | null): void;
  /** Called instead of `onSettled` if the request is rejected before a provider is chosen, for which there is no record. */
  onAbandoned?(): void;
}

/** The decision of a gate. `warnings` go into the answer's `gateway_metadata` and the record, `headers` into the response. */
export type GateDecision =
  | {
      readonly kind: "continue";
      readonly warnings?: readonly Warning[];
      readonly headers?: Headers;
      /** Replaces the body of the request with the settings of its preset, for later gates and for the provider. Model and parameters must stay the same. */
      readonly body?: Buffer;
    }
  | { readonly kind: "reject"; readonly failure: Failure; readonly warnings?: readonly Warning[] }
  | Replacement;

/** An answer that a gate gives in place of a provider. */
export interface Replacement {
  readonly kind: "replace";
  /** The whole answer in the client API's format: JSON, or server-sent events if the request asks for a stream. */
  readonly body: string;
  /** The generation whose answer is replayed, and the feature that does it; absent if the body is not a replay. */
  readonly replay?: Replay;
  readonly headers?: Headers;
}

/** The repetition of an earlier answer. */
export interface Replay {
  /** The id of the generation whose answer it is. */
  readonly of: string;
  readonly by: ReplayFeature;
  /** What that answer cost, in nanodollars; 0 if it is not known. */
  readonly savedNanodollars: number;
}

/** Response headers, by lower-case name. */
type Headers = Readonly<Record<string, string>>;

/** The joint decision of a generation's gates, with the warnings of those that were asked. */
export type JointDecision = { readonly warnings: readonly Warning[] } & (
  | {
      readonly kind: "continue";
      readonly headers: Headers;
      /** Null if no gate replaced the body. */
      readonly body: Buffer | null;
    }
  | { readonly kind: "reject"; readonly failure: Failure }
  | Replacement
);

/** The dependencies of `AttachedExtensions`. */
interface ExtensionDeps {
  /** In the order in which they are asked. */
  readonly extensions: readonly Extension[];
  readonly log: Pick<Log, "error">;
}

/** The extensions that take part in one generation. */
export class AttachedExtensions {
  /** Whether any of them has a gate. */
  readonly hasGate: boolean = false;
  /** Whether anything observes the text. */
  readonly observesText: boolean = false;
  /** The extension points of each extension that takes part. */
  private readonly attached: ExtensionPoints[] = [];
  /** The names of these extensions, in the same order. */
  private readonly names: string[] = [];
  private readonly filterer: ExtensionPoints | null = null;

  constructor(
    private readonly deps: ExtensionDeps,
    generation: AdmittedGeneration,
  ) {
    for (const extension of deps.extensions) {
      const points = extension.attach(generation);
      if (points === null) continue;
      this.attached.push(points);
      this.names.push(extension.name);
      if (points.beforeRoute !== undefined) this.hasGate = true;
      if (points.onText !== undefined) this.observesText = true;
      if (points.filterAnswer !== undefined) this.filterer ??= points;
    }
  }

  /** Returns the filter of an attempt's answer; null if it needs none. */
  filterAnswer(): AnswerFilter | null {
    return this.filterer?.filterAnswer?.() ?? null;
  }

  /** Asks the gates in order, until one rejects the request or replaces its answer. Rejects with what a gate throws. */
  async beforeRoute(received: GatedRequest): Promise<JointDecision> {
    const warnings: Warning[] = [];
    let headers: Headers = {};
    let body: Buffer | null = null;
    for (const points of this.attached) {
      const changed: Buffer | null = body;
      const read = () => changed as Uint8Array;
      const request: GatedRequest = changed === null ? received : { readBody: read, readAppliedBody: read };
      const decision: GateDecision | undefined = await points.beforeRoute?.(request);
      if (decision === undefined) continue;
      if (decision.kind !== "replace") warnings.push(...(decision.warnings ?? []));
      if (decision.kind === "reject") return { ...decision, warnings };
      headers = { ...headers, ...decision.headers };
      if (decision.kind === "replace") return { ...decision, headers, warnings };
      body = decision.body ?? body;
    }
    return { kind: "continue", warnings, headers, body };
  }

  /** Returns the headers that extensions add to the request of an attempt; null for none. */
  beforeAttempt(attempt: BeginningAttempt): Readonly<Record<string, string>> | null {
    const added: Added = { headers: null };
    this.notify(addHeaders, attempt, added);
    return added.headers;
  }

  onAttempt(attempt: AttemptRecord): void {
    this.notify(tellAttempt, attempt, null);
  }

  onText(delta: Uint8Array): void {
    if (delta.length > 0 && this.observesText) this.notify(tellText, delta, null);
  }

  onSettled(record: UsageRecord, failure: Failure | null): void {
    this.notify(tellSettled, record, failure);
  }

  onAbandoned(): void {
    this.notify(tellAbandoned, null, null);
  }

  /** Calls an observer of each extension. `a` and `b` are passed as arguments so that no closure is created for each call. */
  private notify<A, B>(tell: (points: ExtensionPoints, a: A, b: B) => void, a: A, b: B): void {
    for (let at = 0; at < this.attached.length; at++) {
      try {
        tell(this.attached[at] as ExtensionPoints, a, b);
      } catch (error) {
        const extension = this.names[at];
        this.deps.log.error("an extension failed", { extension, detail: failureOf(error).internal });
      }
    }
  }
}

/** The headers that extensions have added so far. */
interface Added {
  headers: Readonly<Record<string, string>> | null;
}

function addHeaders(points: ExtensionPoints, attempt: BeginningAttempt, added: Added): void {
  const headers = points.beforeAttempt?.(attempt) ?? null;
  if (headers !== null) added.headers = { ...added.headers, ...headers };
}

function tellAttempt(points: ExtensionPoints, attempt: AttemptRecord): void {
  points.onAttempt?.(attempt);
}

function tellText(points: ExtensionPoints, delta: Uint8Array): void {
  points.onText?.(delta);
}

function tellSettled(points: ExtensionPoints, record: UsageRecord, failure: Failure | null): void {
  points.onSettled?.(record, failure);
}

function tellAbandoned(points: ExtensionPoints): void {
  points.onAbandoned?.();
}
