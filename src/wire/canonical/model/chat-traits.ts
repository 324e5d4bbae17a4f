/** How the messages of a chat host differ from OpenAI's. Each message is changed for itself, so that those before it stay the same. */
export interface ChatTraits {
  /** The host knows the role `developer`; others get `system`. */
  readonly takesDeveloper: boolean;
  /** Fields of messages that the host rejects. */
  readonly refusedFields: ReadonlySet<string>;
  /** The only field from which the host reads reasoning of earlier turns; null: it gets the client's. */
  readonly reasoningField: ReasoningField | null;
  /** The host rejects calls of earlier turns without reasoning: they get a blank where they have none. */
  readonly needsReasoning: boolean;
  /** The host rejects `cache_control` in parts and tools. */
  readonly refusesCacheMarks: boolean;
  /**
   * The host continues a last message of the assistant only with `prefix: true`, repeats it in the answer, and rejects system messages
   * behind an answer or a result. Only for hosts whose requests are always translated.
   */
  readonly marksPrefill: boolean;
  /** The only roles whose messages may have a `name`; null: all. */
  readonly namedRoles: ReadonlySet<string> | null;
}

/** A field of a message in which hosts have reasoning as text. */
type ReasoningField = "reasoning" | "reasoning_content";
