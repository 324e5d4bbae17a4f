import type { TokenUsage } from "../conversation/usage.ts";
import type { VendorError } from "../conversation/vendor-error.ts";
import type { CalledTurn } from "./called-turn.ts";
import type { AnswerEnd, AnswerIdentity, StreamError } from "./format.ts";

/** What a relay must know to speak for the gateway. */
export interface RelayIdentity extends AnswerIdentity {
  /** Mapped tool-call ids to the client's own; null where none was mapped. */
  readonly originalIds: ReadonlyMap<string, string> | null;
  /** Makes ids for tool calls that come without. */
  readonly makeCallId: () => string;
  /** Told of a turn whose vendor wants something of it back. */
  readonly onTurn: (turn: CalledTurn) => void;
}

/**
 * How a stream ended (docs/contract.md, "When things go wrong"). `complete` and `empty` are answers; an empty one has finished
 * cleanly and holds nothing that a person or agent would read.
 */
export type RelayVerdict = "complete" | "empty" | "unfinished" | "failed";

/** How an answer finished: in the words that records use for every client API (`FINISH_WORDS`), and in the vendor's. */
export interface RelayFinish {
  readonly client: string;
  readonly native: string;
}

/**
 * A streamed answer on its way from a vendor to a client, whichever formats the two speak. Texts are bytes read as
 * Latin-1. A relay is moved on by `step` and `end`, and never throws: what cannot be read becomes its `error`.
 */
export interface AnswerRelay {
  /** Takes the next piece of the vendor's stream, cut anywhere; gives what the client gets for it. */
  step(piece: string): string;
  /** Takes the end of the vendor's stream. */
  end(): string;
  /** Whether anything has come that a person or agent would read. Until then another provider may still answer. */
  readonly sawToken: boolean;
  /** The vendor's end marker has come. */
  readonly isDone: boolean;
  /** Every choice that has begun has finished: only usage and an end marker may still come. */
  readonly isFinished: boolean;
  /** What the vendor, or its broken stream, failed with. */
  readonly error: VendorError | null;
  readonly usage: TokenUsage | null;
  /** Searches by the vendor so far, for estimates. */
  readonly searches: number;
  /** Bytes of text so far, for estimates. */
  readonly producedBytes: number;
  /** Judges a stream that has ended, cleanly or not: an answer that came whole stays whole. Nothing is read after it. */
  judge(): RelayVerdict;
  /** Of the first choice; null before it has come. */
  finish(): RelayFinish | null;
  /**
   * Ends the answer where it is, as one that has reached its bound; gives what the client gets before `encodeEnd`. Nothing is
   * read after it.
   */
  stopShort(): string;
  /** The last events of a whole answer. */
  encodeEnd(end: AnswerEnd): string;
  /** The last event of an answer that broke off. */
  encodeError(error: StreamError): string;
}

/** A whole answer ready for the client but for its price; or why it is none. */
export type WholeAnswer =
  | {
      readonly kind: "answer";
      /** It has finished cleanly and holds nothing that a person or agent would read. */
      readonly isEmpty: boolean;
      readonly usage: TokenUsage | null;
      readonly producedBytes: number;
      /** Null for what does not finish: vectors. */
      readonly finish: RelayFinish | null;
      /** The client's body. */
      encode(end: AnswerEnd): string;
    }
  | { readonly kind: "error"; readonly error: VendorError };
