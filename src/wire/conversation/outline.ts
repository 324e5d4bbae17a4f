/**
 * What tool-call repair needs to know of a conversation, whatever format it came in. Each client API makes
 * one of these from its own shape and carries the result back into it, so texts, images and fields that
 * repair has no business with are never touched.
 */
export type OutlineMessage =
  | {
      readonly kind: "assistant";
      /** Ids of its tool calls in order; "" where the id is empty or missing. */
      readonly callIds: readonly string[];
    }
  | {
      readonly kind: "result";
      /** Id of the call it answers; "" where that is empty or missing. */
      readonly callId: string;
    }
  | { readonly kind: "other" };

/** A message of the repaired conversation, named by where it came from. */
export type RepairedMessage =
  /** Message `from` of the input. */
  | {
      readonly kind: "kept";
      readonly from: number;
      /** An assistant's remaining calls: `from` is the place in its list, `id` the id to send. Null where nothing changed. */
      readonly calls: readonly { readonly from: number; readonly id: string }[] | null;
      /** A result's call id to send. Null where it is unchanged. */
      readonly callId: string | null;
    }
  /** A result to insert for a call that was interrupted. */
  | { readonly kind: "placeholder"; readonly callId: string };

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

/** What a provider family accepts (docs/contract.md, "Tool-call repair", rules 4 and 5). */
export interface ToolCallRules {
  readonly ids: "mistral" | "anthropic" | "openai";
  /** Whether the last assistant message may end the conversation with calls that have no result. */
  readonly allowsOpenCalls: boolean;
}
