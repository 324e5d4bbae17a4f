import type { TokenUsage } from "../conversation/usage.ts";
import type { VendorError } from "../conversation/vendor-error.ts";
import type { Warning } from "../conversation/warning.ts";
import type { Fields } from "../json/fields.ts";
import type { Answer, AnswerEvent } from "./answer.ts";
import type { ConversationRequest } from "./request.ts";

/** The model that a request is encoded for, as far as a format must know it. */
export interface ModelTarget {
  /** The model's name at the provider. */
  readonly name: string;
  /** Tokens; null where nobody names a bound. Formats that demand a maximum take this one where the client said none. */
  readonly maxOutputTokens: number | null;
  /** False: it is known to read no images. */
  readonly takesImages?: boolean;
  /** How its reasoning is steered; null where it does not reason or nobody knows. */
  readonly reasoning: {
    readonly efforts?: readonly string[];
    readonly budgetTokens?: { readonly min?: number; readonly max?: number };
    readonly canDisable?: true;
    readonly onlyWhenTold?: true;
  } | null;
  /** Whether it reasons; absent where nobody knows. */
  readonly reasons?: boolean;
  /** Of the chat format: how the provider is told how much to reason; absent: with `reasoning_effort` alone. */
  readonly reasoningFields?: ReasoningFields;
  /** Of the chat format: the provider takes the `reasoning` object that clients of this gateway send. */
  readonly takesReasoningObject?: boolean;
  /** Of the Responses format: the provider takes no `instructions`. */
  readonly noInstructions?: boolean;
  /** Of the Responses format: the provider does not encrypt reasoning for the client to send back. */
  readonly noEncryptedReasoning?: boolean;
}

/** How a vendor spells wishes for reasoning in a request of the chat format; what is absent cannot be said there. */
export interface ReasoningFields {
  /** The fields that switch reasoning on. */
  readonly on?: Fields;
  /** The fields that switch it off. */
  readonly off?: Fields;
  /** The field that an effort goes in. */
  readonly effort?: string;
  /** The field that a budget in tokens goes in. */
  readonly budget?: string;
}

/** A request in a target's format. */
export interface EncodedRequest {
  readonly body: Fields;
  readonly warnings: readonly Warning[];
}

/** A vendor's whole answer, or why it is none. */
export type AnswerDecoding =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "error"; readonly error: VendorError };

/** Reads a vendor's stream. `step` takes bytes read as Latin-1, cut anywhere. */
export interface AnswerReader {
  step(piece: string): readonly AnswerEvent[];
  /** The vendor's stream has ended: what it left out is closed, if its finish has come. */
  end(): readonly AnswerEvent[];
  /** The vendor's own end marker has come; what follows it is not read. */
  readonly isDone: boolean;
  /** Its vendor signs texts and wants the signatures back. */
  readonly signsTexts?: true;
  /**
   * What was used as far as the stream has come, where its counters come more often than they are told as events; null
   * where they say nothing. Asked for at a stream's end, and by whoever keeps count of one that runs.
   */
  countSoFar?(): TokenUsage | null;
}

/** What an upstream format offers: requests out, answers in. */
export interface UpstreamCodec {
  /**
   * Puts a request into this format. What it cannot express is left out and named.
   * @throws GatewayError `invalid_request` where leaving it out would change what was asked.
   */
  encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest;
  /** Reads a body that came with status 200. An answer without a word is an answer; whoever asked judges it. */
  decodeAnswer(body: Fields): AnswerDecoding;
  createReader(): AnswerReader;
}

/** What the client's answer says of itself. */
export interface AnswerIdentity {
  /** The generation's id. */
  readonly id: string;
  /** The model that answers, as a catalog id. */
  readonly model: string;
  /** Unix time in whole seconds. */
  readonly created: number;
}

/** What an answer used, and what it costs. */
export interface UsageReport {
  readonly usage: TokenUsage;
  /** US dollars that the account pays. */
  readonly cost: number;
  /** US dollars at list price. */
  readonly upstreamInferenceCost: number;
  readonly isByok: boolean;
}

/** What ends an answer: its price, and what the gateway did to it. */
export interface AnswerEnd {
  readonly report: UsageReport;
  /** `gateway_metadata`, or null. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** An error as clients see it in the middle of a stream. */
export interface StreamError {
  readonly message: string;
  /** HTTP status that it would have had. */
  readonly code: number;
  /** One of the closed set of base/errors. */
  readonly type: string;
  /** Facts for programs, as in an error with a status of its own. */
  readonly metadata?: Fields;
}

/** Writes a stream for a client. Each method gives what to send, bytes read as Latin-1. */
export interface AnswerWriter {
  step(event: AnswerEvent): string;
  /** The last events of an answer that is whole. Nothing follows. */
  end(end: AnswerEnd): string;
  /** The last event of an answer that broke off. Nothing follows. */
  fail(error: StreamError): string;
}

/** What a client format offers: requests in, answers out. */
export interface ClientCodec {
  /** What `encodeAnswer` and `createWriter` look at of a request; all else may be forgotten once it is sent. */
  keepForAnswer(request: ConversationRequest): ConversationRequest;
  /**
   * Reads a request. Lenient where clients are, and what it does not know it keeps in extras.
   * @throws GatewayError `invalid_request` that names the field and the remedy.
   */
  decodeRequest(body: Fields): ConversationRequest;
  /** A whole answer as the client's body. */
  encodeAnswer(
    answer: Answer,
    identity: AnswerIdentity,
    end: AnswerEnd,
    asked: AskedFor,
  ): Record<string, unknown>;
  createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter;
}

/** What of the request the answer's form depends on. */
export interface AskedFor {
  /** The request as it was decoded; Responses repeats fields of it. */
  readonly request: ConversationRequest;
  /** The client asked for usage in a chunk of its own (`stream_options.include_usage`). */
  readonly wantsUsageChunk: boolean;
  /** The client knows OpenAI's older `function_call`, and no `tool_calls`. */
  readonly usesFunctions?: boolean;
  /** About how many tokens the prompt has, for what must be said before the vendor has counted. */
  readonly estimatedPromptTokens: number;
}
