import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import type { Citation, Extras, Part } from "./parts.ts";

/** A whole answer. */
export interface Answer {
  readonly choices: readonly AnswerChoice[];
  /** Null if the vendor sent none. */
  readonly usage: TokenUsage | null;
  /** The service tier that was used, in the vendor's spelling. */
  readonly serviceTier: string | null;
  readonly extras?: Extras;
}

export interface AnswerChoice {
  readonly index: number;
  readonly parts: readonly Part[];
  readonly finish: Finish;
  /** In OpenAI's form: `{content: [...], refusal: [...]}`; null if none were requested. */
  readonly logprobs: unknown;
  readonly extras?: Extras;
}

export interface Finish {
  readonly reason: FinishReason;
  /** The vendor's own finish reason. */
  readonly native: string;
  /** The stop sequence that was hit, if the vendor names it. */
  readonly stopSequence: string | null;
}

export type FinishReason =
  | "stop"
  | "stop-sequence"
  | "length"
  | "tool-calls"
  | "content-filter"
  | "refusal"
  /** The vendor paused the turn and continues it when it is sent back. */
  | "pause";

/**
 * An event of a streamed answer.
 * The parts of a choice are numbered from 0 in the order in which they start; several may be open at once. A part starts with what
 * is known of it, grows by deltas, and ends once; native parts come whole and have no deltas. A choice finishes once, after all its
 * parts have ended. A usage replaces an earlier one. Nothing follows an error.
 */
export type AnswerEvent =
  | { readonly kind: "part-start"; readonly choice: number; readonly at: number; readonly part: Part }
  | { readonly kind: "part-delta"; readonly choice: number; readonly at: number; readonly delta: PartDelta }
  | { readonly kind: "part-end"; readonly choice: number; readonly at: number }
  | { readonly kind: "logprobs"; readonly choice: number; readonly value: unknown }
  | { readonly kind: "finish"; readonly choice: number; readonly finish: Finish; readonly extras?: Extras }
  | { readonly kind: "usage"; readonly usage: TokenUsage }
  | { readonly kind: "service-tier"; readonly tier: string }
  /** Fields of the answer as a whole that only its format has. */
  | { readonly kind: "extras"; readonly extras: Extras }
  | { readonly kind: "error"; readonly error: VendorError };

export type PartDelta =
  /** For a text, a refusal or reasoning. */
  | { readonly kind: "text"; readonly text: string }
  /** For the arguments of a tool call. */
  | { readonly kind: "arguments"; readonly text: string }
  /** For reasoning: its signature, or more of it. */
  | { readonly kind: "signature"; readonly value: string }
  /** For reasoning: its whole encrypted part. */
  | { readonly kind: "encrypted"; readonly value: string }
  /** For a text. */
  | { readonly kind: "citation"; readonly citation: Citation }
  /** For a text or tool call: its signature, where it follows the part's start. */
  | { readonly kind: "part-signature"; readonly value: string; readonly origin: string };
