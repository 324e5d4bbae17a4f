/** Something that the target could not express, shown in `gateway_metadata.warnings`. */
export interface Warning {
  /** The field in the client's terms where known: `logit_bias`, `messages[3].content[1]`. */
  readonly field: string;
  /** The consequence, as a sentence. */
  readonly message: string;
  /** True if the loss changes the meaning of the request. Formats of an endpoint without this loss are then preferred. */
  readonly isGrave?: true;
  /**
   * True if the warning follows from a recent refusal of a provider. It does not affect the choice of the format, so that a conversation
   * keeps its format.
   */
  readonly isLearned?: true;
}
