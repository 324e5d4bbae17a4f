import type { ByteOutput } from "../../../base/text/byte-output.ts";
import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { AnswerEnd, AnswerIdentity, StreamError } from "../model/format.ts";
import type { CalledTurn } from "./called-turn.ts";
import type { AnswerFilter } from "./filter-answer.ts";

/** The properties of a generation that a relay needs. */
export interface RelayIdentity extends AnswerIdentity {
  /** The client's tool-call ids by the mapped ids; null if none was mapped. */
  readonly originalIds: ReadonlyMap<string, string> | null;
  /** Returns a new id for a tool call that came without one. */
  readonly makeCallId: () => string;
  /** Called for a turn with content that the vendor requires in the next request. */
  readonly onTurn: (turn: CalledTurn) => void;
  /** Whether these turns are stored, so that parts which the client drops can be restored. Defaults to false. */
  readonly remembersTurns?: boolean;
  /** Filters the answer, which is then always translated. Absent or null: none. */
  readonly filter?: AnswerFilter | null;
}

/**
 * How a stream ended (docs/api/errors.md, "Broken streams"). `empty` finished cleanly without any content for a person or
 * agent.
 */
export type RelayEnding = "complete" | "empty" | "unfinished" | "failed";

/** The finish reason in the terms of records (`FINISH_WORDS`) and in the vendor's. */
export interface RelayFinish {
  readonly client: string;
  readonly native: string;
}

/** What an upstream says of its answer before the answer is read. */
export interface AnswerHead {
  /** A stream was requested, and the upstream sent one JSON document instead. */
  readonly isDocument: boolean;
  /** The `content-type`; null where the upstream sent none. */
  readonly contentType: string | null;
}

/**
 * Relays a streamed answer from a vendor to a client, whichever formats they speak. Texts are bytes as Latin-1. `step` and `end` never
 * throw: a failure to read sets `error`.
 */
export interface AnswerRelay {
  /**
   * The media type of an answer that is forwarded as bytes, such as audio: nothing is added to it, and one that fails ends with its
   * connection. Absent for server-sent events.
   */
  readonly mediaType?: string;
  /** Reads the next piece of the vendor's stream, split anywhere; returns what to send to the client. */
  step(piece: string): string;
  /** Reads the end of the vendor's stream; returns what to send to the client. */
  end(): string;
  /**
   * Copies the event that begins at `from` in a piece to `out`, if it only continues a text. The effect is that of `step` with this event.
   * Called between events, until the stream is done or has failed. Returns where the next event begins. Returns `from` if the event is
   * incomplete or `step` must read it.
   */
  copyEvent?(piece: Uint8Array, from: number, out: ByteOutput): number;
  /** Whether any content for a person or agent has arrived. Until then another provider may still answer. */
  readonly sawToken: boolean;
  /** Whether the vendor's end marker has arrived. */
  readonly isDone: boolean;
  /** Whether every choice that has begun has finished; only usage and an end marker may follow. */
  readonly isFinished: boolean;
  /** The error of the vendor or of its malformed stream. */
  readonly error: VendorError | null;
  readonly usage: TokenUsage | null;
  /** The number of the vendor's web searches so far, for estimates. */
  readonly searches: number;
  /** Bytes of text so far, for estimates. */
  readonly producedBytes: number;
  /**
   * Classifies a stream that has ended, cleanly or with an error. An answer that arrived completely counts as complete even after an error.
   * `step` is not called afterwards.
   */
  classifyEnd(): RelayEnding;
  /** Returns the finish of the first choice; null before it has arrived. */
  finish(): RelayFinish | null;
  /** Ends the answer as if it had reached its length limit. Returns what to send before `encodeEnd`. `step` is not called afterwards. */
  stopShort(): string;
  /**
   * Resolves to the output that the filter has held back. Called once, before `encodeEnd`, unless the filter blocks the answer. Absent if
   * the filter holds nothing back.
   */
  readonly release?: () => Promise<string>;
  /**
   * Lists warnings for the parts of a complete answer that the client did not get and that are not stored either. Absent if there are none.
   */
  listWarnings?(): readonly Warning[];
  /** Returns the last events of a complete answer. */
  encodeEnd(end: AnswerEnd): string;
  /** Returns the last event of an answer that failed. */
  encodeError(error: StreamError): string;
}

/** A whole answer without its cost, or an error. `Body` is the type of the client's response body. */
export type WholeAnswer<Body extends string | Buffer = string> =
  | {
      readonly kind: "answer";
      /** Whether it finished cleanly without any content for a person or agent. */
      readonly isEmpty: boolean;
      readonly usage: TokenUsage | null;
      readonly producedBytes: number;
      /** Null for answers without a finish reason, such as embeddings. */
      readonly finish: RelayFinish | null;
      /** Applies the filter. Called before `encode`, which is not called if the filter blocks the answer. Absent without a filter. */
      readonly applyFilter?: (pause: () => Promise<void>) => Promise<void>;
      /** The media type of the client's response. Absent for JSON. */
      readonly mediaType?: string;
      /** Encodes the client's response body. */
      encode(end: AnswerEnd): Body;
    }
  | { readonly kind: "error"; readonly error: VendorError };
