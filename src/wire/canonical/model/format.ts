import type { Fields } from "../../../base/json/fields.ts";
import type { BlankTexts } from "../../conversation/blank-texts.ts";
import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { Answer, AnswerEvent } from "./answer.ts";
import type { ChatTraits } from "./chat-traits.ts";
import type { ConversationRequest } from "./request.ts";

/** The model that a request is encoded for: what encoders need to know about it. */
export interface ModelTarget {
  /** The model's name at the provider. */
  readonly name: string;
  /** The maximum number of output tokens; null if unknown. Formats that require a limit use it where the client gave none. */
  readonly maxOutputTokens: number | null;
  /** False: the model does not accept images. */
  readonly takesImages?: boolean;
  /** How reasoning is controlled; null if the model does not reason or this is unknown. */
  readonly reasoning: {
    readonly efforts?: readonly string[];
    readonly budgetTokens?: { readonly min?: number; readonly max?: number };
    readonly canDisable?: true;
    readonly onlyWhenTold?: true;
  } | null;
  /** Chat and Responses formats: the efforts that the host takes of any model. Absent: all, or this is unknown. */
  readonly hostEfforts?: readonly string[];
  /** Whether the model reasons; absent where unknown. */
  readonly reasons?: boolean;
  /** False: it rejects system messages behind the first turn. */
  readonly takesMidSystem?: boolean;
  /** False: it rejects a conversation that ends with the assistant. */
  readonly takesPrefill?: boolean;
  /** False: it rejects thinking of earlier turns that has no signature of its vendor. */
  readonly takesUnsigned?: boolean;
  /** OpenAI's formats: it takes `prompt_cache_breakpoint` in contents. Absent: not. */
  readonly takesBreakpoints?: boolean;
  /** Which texts without a word it rejects. Absent: none. */
  readonly blankTexts?: BlankTexts;
  /** When it can be made to call a tool. Absent: always, or this is unknown. */
  readonly forcedTools?: "without-reasoning" | "never";
  /** Chat format only: the fields that control reasoning at the provider. Absent: `reasoning_effort` only. */
  readonly reasoningFields?: ReasoningFields;
  /** Chat format only: the provider accepts the `reasoning` object that clients of this gateway send. */
  readonly takesReasoningObject?: boolean;
  /** Responses format only: the provider does not encrypt reasoning for the client to send back. */
  readonly noEncryptedReasoning?: boolean;
  /** Responses format only: the host is the operator's own, which looks up no reasoning in a vendor's store. */
  readonly isOwnHost?: boolean;
}

/** The fields that control reasoning in a vendor's variant of the chat format. An absent field cannot be expressed. */
export interface ReasoningFields {
  /** The fields that switch reasoning on. */
  readonly on?: Fields;
  /** The fields that switch it off. */
  readonly off?: Fields;
  /** The field for an effort. */
  readonly effort?: string;
  /** The field for a budget in tokens. */
  readonly budget?: string;
}

/** A request encoded in a target's format. */
export interface EncodedRequest {
  readonly body: Fields;
  readonly warnings: readonly Warning[];
}

/** A vendor's whole answer, or its error. */
export type AnswerDecoding =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "error"; readonly error: VendorError };

/** Decodes a vendor's stream. `step` takes bytes as Latin-1, split anywhere. */
export interface AnswerReader {
  step(piece: string): readonly AnswerEvent[];
  /** Reads the end of the vendor's stream; ends what is still open if its finish has arrived. */
  end(): readonly AnswerEvent[];
  /** The vendor's end marker has arrived; nothing after it is read. */
  readonly isDone: boolean;
  /** The vendor signs texts and wants the signatures back. */
  readonly signsTexts?: true;
  /**
   * Returns the usage so far, for vendors that update their counters more often than they are emitted as events; null if there
   * is none yet. Called at the end of a stream and while usage is metered.
   */
  countSoFar?(): TokenUsage | null;
}

/** Translates requests to an upstream's format and its answers back. */
export interface UpstreamCodec {
  /**
   * Encodes a request. What the format cannot express is left out with a warning.
   * @throws GatewayError `invalid_request` where leaving it out would change the meaning of the request.
   */
  encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest;
  /** Decodes a body that came with status 200. An answer without content is valid; the caller decides what to do with it. */
  decodeAnswer(body: Fields): AnswerDecoding;
  createReader(): AnswerReader;
  /** Fits an encoded body to a host whose messages differ from those of the format's vendor. Absent: hosts do not differ. */
  fitBody?(body: Fields, host: ChatTraits): { readonly body: Fields; readonly warnings: readonly Warning[] };
  /** Returns the text of a body that its answer repeats; null if there is none. Absent: hosts repeat nothing. */
  prefillOf?(body: Fields, host: ChatTraits): string | null;
}

/** The fields that identify an answer to the client. */
export interface AnswerIdentity {
  /** The generation's id. */
  readonly id: string;
  /** The catalog id of the model that answers. */
  readonly model: string;
  /** Unix time in whole seconds. */
  readonly created: number;
}

/** The usage and the cost of an answer. */
export interface UsageReport {
  readonly usage: TokenUsage;
  /** US dollars that the account pays. */
  readonly cost: number;
  /** US dollars at list price. */
  readonly upstreamInferenceCost: number;
  /** The part of it that is charged by the tokens of prompts. */
  readonly upstreamPromptCost: number;
  /** The part of it that is charged by the tokens of completions. */
  readonly upstreamCompletionCost: number;
  readonly isByok: boolean;
}

/** What is added at the end of an answer: its cost, and what the gateway changed. */
export interface AnswerEnd {
  readonly report: UsageReport;
  /** `gateway_metadata`, or null. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** When the answer was complete, in Unix seconds. Absent: when the request came. */
  readonly completedAt?: number;
}

/** An error that is sent within a stream. */
export interface StreamError {
  readonly message: string;
  /** The HTTP status that the error would have as a response. */
  readonly code: number;
  /** An error code of `base/failures/errors`. */
  readonly type: string;
  /** Machine-readable details, as in an error response. */
  readonly metadata?: Fields;
}

/** Encodes a stream for a client. Each method returns what to send, bytes as Latin-1. */
export interface AnswerWriter {
  step(event: AnswerEvent): string;
  /** Lists what a complete answer lost because the format has no place for it, as far as a memory of turns can restore it. Absent: nothing. */
  listForgotten?(): readonly Warning[];
  /** Returns the last events of a complete answer. No call follows. */
  end(end: AnswerEnd): string;
  /** Returns the last event of an answer that failed. No call follows. */
  fail(error: StreamError): string;
}

/** Decodes a client's requests and encodes the answers for it. */
export interface ClientCodec {
  /** Returns the parts of a request that `encodeAnswer` and `createWriter` read, so that the rest can be freed. */
  keepForAnswer(request: ConversationRequest): ConversationRequest;
  /**
   * Decodes a request. It accepts common deviations of clients, and keeps unknown fields in extras.
   * @throws GatewayError `invalid_request` that names the field and the remedy.
   */
  decodeRequest(body: Fields): ConversationRequest;
  /** Encodes a whole answer as the client's response body. */
  encodeAnswer(answer: Answer, frame: AnswerFrame): Fields;
  createWriter(identity: AnswerIdentity, asked: AskedFor): AnswerWriter;
}

/** What a whole answer is encoded with, besides its parts. */
export interface AnswerFrame {
  readonly identity: AnswerIdentity;
  readonly end: AnswerEnd;
  readonly asked: AskedFor;
}

/** The properties of a request that decide the form of its answer. */
export interface AskedFor {
  /** The decoded request; Responses repeats some of its fields. */
  readonly request: ConversationRequest;
  /** The client asked for a usage chunk (`stream_options.include_usage`). */
  readonly wantsUsageChunk: boolean;
  /** The client only knows OpenAI's deprecated `function_call`. */
  readonly usesFunctions?: boolean;
  /** The estimated number of prompt tokens, for events that are sent before the vendor has counted. */
  readonly estimatedPromptTokens: number;
}
