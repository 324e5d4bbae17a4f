/** Something the target could not express, shown in `gateway_metadata.warnings`. */
export interface Warning {
  /** The field, in the client's words as far as they are known: `logit_bias`, `messages[3].content[1]`. */
  readonly field: string;
  /** What was done with it, as a sentence. */
  readonly message: string;
  /** Without it the answer is to another request; among the formats of an endpoint one that can say it goes first. */
  readonly isGrave?: true;
}
