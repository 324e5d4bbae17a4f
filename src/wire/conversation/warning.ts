/** Something that the target could not express, shown in `gateway_metadata.warnings`. */
export interface Warning {
  /** The field in the client's terms where known: `logit_bias`, `messages[3].content[1]`. */
  readonly field: string;
  /** What was done about it, as a sentence. */
  readonly message: string;
  /** The meaning of the request changes without it. Among the formats of an endpoint, one that can express it is preferred. */
  readonly isGrave?: true;
  /** It follows from what a provider refused lately, and does not count in the choice of the format: a conversation keeps its format. */
  readonly isLearned?: true;
}
