/**
 * The outline of a conversation that tool-call repair works on, in any format. Each client API derives it from its own form and applies the
 * result to that form, so that texts, images and other fields are never changed. Ids may be parts of the request's text (`stringViewOf`).
 */
export type OutlineMessage = OutlineAssistant | OutlineResult | { readonly kind: "other" };

export interface OutlineAssistant {
  readonly kind: "assistant";
  /** Ids of its tool calls in order; "" for an empty or missing id. */
  readonly callIds: readonly string[];
  /** Ids of calls that only one format has. They may have a result but need none, and their ids are kept. */
  readonly hostedIds?: readonly string[];
  /** Returns name and arguments of the call at an index of `callIds`. Only used if two calls have the same id. */
  describeCall(index: number): string;
}

export interface OutlineResult {
  readonly kind: "result";
  /** The id of the call that it answers; "" for an empty or missing id. */
  readonly callId: string;
  /** The client's name of the id field; set if the id is empty or missing. */
  readonly field?: string;
  /**
   * Returns its content as received. Used only if two equal calls of a turn have results. If absent, the result counts as different from
   * all others.
   */
  describeResult?(): string;
}

/** A message of the repaired conversation and its origin. */
export type RepairedMessage =
  /** The message at index `from` of the input. */
  | {
      readonly kind: "kept";
      readonly from: number;
      /** The remaining calls of an assistant message; null if unchanged. */
      readonly calls: readonly KeptCall[] | null;
      /** The call id of a result to send; null if unchanged. */
      readonly callId: string | null;
      /** It is joined with the assistant message before it. */
      readonly joins: boolean;
    }
  /** A placeholder result for call `call` of message `message` of the input. */
  | {
      readonly kind: "placeholder";
      readonly callId: string;
      readonly message: number;
      readonly call: number;
    };

export interface KeptCall {
  /** Index in the message's list of calls. */
  readonly from: number;
  /** The id to send. */
  readonly id: string;
}

/** The number of repairs of each kind, shown in `gateway_metadata.repairs`. */
export interface RepairCounts {
  readonly duplicateCallsRemoved: number;
  readonly orphanResultsRemoved: number;
  readonly placeholdersAdded: number;
  readonly idsMapped: number;
}

/** A repaired conversation. Functions return null instead if nothing had to change. */
export interface Repair {
  readonly messages: readonly RepairedMessage[];
  readonly counts: RepairCounts;
  /** The client's ids by the ids that were sent, where they differ. */
  readonly originalIds: ReadonlyMap<string, string>;
}

/** The tool-call rules of a target (docs/api/translation.md, "Tool-call repair"; returned by `toolCallRulesOf`). */
export interface ToolCallRules {
  readonly ids: ToolCallIdFormat;
  /** All call ids of a conversation must be unique. Otherwise only those within a turn must be. */
  readonly hasUniqueIds: boolean;
  /**
   * The position of results: directly after the message with their calls, directly after the adjacent assistant messages with calls
   * that it belongs to, or anywhere after it.
   */
  readonly results: "after-message" | "after-turn" | "anywhere";
}

/** The tool-call id format that a vendor accepts. */
export type ToolCallIdFormat = "mistral" | "anthropic" | "openai";
