/** What a guardrail did. */
export interface GuardrailNote {
  readonly name: string;
  /** `unchecked`: it could not check the texts, which were let pass. `unavailable`: they were not. */
  readonly action: (typeof GUARDRAIL_RESULTS)[number];
  readonly on: "request" | "answer";
}

/** What a guardrail can do with what it finds, or if it cannot check. */
export const GUARDRAIL_RESULTS = ["block", "mask", "warn", "unchecked", "unavailable"] as const;

/** Something that the target could not express, shown in `gateway_metadata.warnings`. */
export interface Warning {
  /** The field in the client's terms where known: `logit_bias`, `messages[3].content[1]`. */
  readonly field: string;
  /** The consequence, as a sentence. */
  readonly message: string;
  /** What a guardrail of the gateway did, if the warning is about one. Not shown to clients: the message says it. */
  readonly guardrail?: GuardrailNote;
  /** True if the loss changes the meaning of the request. Formats of an endpoint without this loss are then preferred. */
  readonly isGrave?: true;
  /**
   * True if the warning follows from a recent refusal of a provider. It does not affect the choice of the format, so that a conversation
   * keeps its format.
   */
  readonly isLearned?: true;
}
