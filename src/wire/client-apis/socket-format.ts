import type { Fields } from "../../base/json/fields.ts";
import type { SplitEvent } from "../../base/sse/split-events.ts";
import type { ItemBytes } from "../openai-responses/socket/join-connection.ts";

/** How requests of an operation, and their answers, are sent over a WebSocket. */
export interface SocketFormat {
  /** Returns whether a frame of a client gets no answer. */
  readonly isAcknowledgement: (frame: string) => boolean;
  /** Reads a frame as a request. @throws GatewayError `invalid_request`. */
  readonly readFrame: (frame: Buffer) => SocketFrame;
  /** Begins to make frames of the events of an answer. */
  readonly openEvents: (frame: SocketFrame) => SocketEvents;
  /** Returns the events that answer a request for which no model is called, bytes as Latin-1. */
  readonly answerWarmUp: (response: WarmUpFacts) => string;
  /** Encodes the body of an error response as a frame. */
  readonly encodeError: (body: Fields, facts: ErrorFrameFacts) => string;
  /** The frame that ends a connection which has reached its greatest age. */
  readonly connectionLimit: string;
}

/** A request in a frame. */
export interface SocketFrame {
  /** The name of the stream of requests that the frame belongs to; null if it names none. */
  readonly streamId: string | null;
  /** The id of the response that it continues; null for a new conversation. */
  readonly previousId: string | null;
  /** Whether its response may be kept in the store. */
  readonly mayBeStored: boolean;
  /** Whether the request only announces what the next one will send, and no model is called. */
  readonly isWarmUp: boolean;
  /** Returns a copy of the items that it adds to its conversation. */
  copyAdded(): Buffer;
  /**
   * Returns the body that is parsed, with the items of the response that it continues. Null for a new conversation, and for a response
   * that is read from the store, whose id stays in the body.
   * @throws GatewayError `invalid_request`.
   */
  readBody(earlier: ItemBytes | null): Buffer;
}

/** Makes frames of the events of one answer. */
export interface SocketEvents {
  /** How the response has ended; null until its last event was read. */
  readonly end: { readonly id: string; readonly output: Buffer | null; readonly isStored: boolean } | null;
  /** Returns the text of the frame for an event. */
  read(event: SplitEvent): string;
}

/** The facts about a response for which no model is called. */
export interface WarmUpFacts {
  readonly id: string;
  /** The model as the client named it. */
  readonly model: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/** What an error frame says besides the error. */
export interface ErrorFrameFacts {
  readonly status: number;
  /** Headers of an error response that clients read. */
  readonly headers: Readonly<Record<string, string>>;
  readonly streamId: string | null;
}
