/**
 * What tool-call repair needs to know of a conversation, whatever format it came in. Each client API makes
 * one of these from its own shape and carries the result back into it, so texts, images and fields that
 * repair has no business with are never touched.
 */
export type OutlineMessage = OutlineAssistant | OutlineResult | { readonly kind: "other" };

export interface OutlineAssistant {
  readonly kind: "assistant";
  /** Ids of its tool calls in order; "" where the id is empty or missing. */
  readonly callIds: readonly string[];
  /** Ids of calls of a kind that only one format has. A result may answer them, none has to, and their ids stay. */
  readonly hostedIds?: readonly string[];
  /** Name and arguments of the call at an index of `callIds`. Only read where two calls have one id. */
  describeCall(index: number): string;
}

export interface OutlineResult {
  readonly kind: "result";
  /** Id of the call it answers; "" where that is empty or missing. */
  readonly callId: string;
  /** The client's name for the id's field, set where the id is empty or missing. */
  readonly field?: string;
}

/** A message of the repaired conversation, named by where it came from. */
export type RepairedMessage =
  /** Message `from` of the input. */
  | {
      readonly kind: "kept";
      readonly from: number;
      /** An assistant's remaining calls. Null where nothing changed. */
      readonly calls: readonly KeptCall[] | null;
      /** A result's call id to send. Null where it is unchanged. */
      readonly callId: string | null;
      /** It becomes one message with the assistant message before it. */
      readonly joins: boolean;
    }
  /** A result to insert for call `call` of message `message` of the input. */
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

/** How many times each repair was made; shown in `gateway_metadata.repairs`. */
export interface RepairCounts {
  readonly duplicateCallsRemoved: number;
  readonly orphanResultsRemoved: number;
  readonly placeholdersAdded: number;
  readonly idsMapped: number;
}

/** A repaired conversation; null in place of one means that nothing had to change. */
export interface Repair {
  readonly messages: readonly RepairedMessage[];
  readonly counts: RepairCounts;
  /** Ids as sent, to the ids the client knows, where they differ. */
  readonly originalIds: ReadonlyMap<string, string>;
}

/** What a target accepts (docs/contract.md, "Tool-call repair"; made by `toolCallRulesOf`). */
export interface ToolCallRules {
  readonly ids: ToolCallIdFamily;
  /** No two calls of a conversation may have one id. Otherwise only two calls of one turn may not. */
  readonly hasUniqueIds: boolean;
  /**
   * Where the results of calls have to stand: directly behind the message that has the calls, directly behind the
   * neighbouring assistant messages with calls that it is one of, or anywhere behind it.
   */
  readonly results: "behind-message" | "behind-turn" | "anywhere";
}

/** The shape of ids that a vendor accepts. */
export type ToolCallIdFamily = "mistral" | "anthropic" | "openai";
