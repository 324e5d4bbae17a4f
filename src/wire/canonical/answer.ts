import type { TokenUsage } from "../conversation/usage.ts";
import type { VendorError } from "../conversation/vendor-error.ts";
import type { Citation, Extras, Part } from "./parts.ts";

/** A whole answer. */
export interface Answer {
  readonly choices: readonly AnswerChoice[];
  /** Null where the vendor gave none. */
  readonly usage: TokenUsage | null;
  /** The tier that served it, in the vendor's word. */
  readonly serviceTier: string | null;
  readonly extras?: Extras;
}

export interface AnswerChoice {
  readonly index: number;
  readonly parts: readonly Part[];
  readonly finish: Finish;
  /** As OpenAI spells it: `{content: [...], refusal: [...]}`; null where none were asked for. */
  readonly logprobs: unknown;
  readonly extras?: Extras;
}

export interface Finish {
  readonly reason: FinishReason;
  /** The vendor's own word. */
  readonly native: string;
  /** Which stop sequence it ran into, where the vendor says. */
  readonly stopSequence: string | null;
}

export type FinishReason =
  | "stop"
  | "stop-sequence"
  | "length"
  | "tool-calls"
  | "content-filter"
  | "refusal"
  /** The vendor wants the turn sent back to go on with it. */
  | "pause";

/**
 * A streamed answer, piece by piece.
 *
 * In each choice parts have places, counted from 0 in the order they start; several may be open at once. A part
 * starts as far as it is known, grows by deltas, and ends once; what comes whole (native parts) has no deltas. All
 * parts of a choice have ended when it finishes, and it finishes once. A usage replaces the one before. After an
 * error comes nothing more.
 */
export type AnswerEvent =
  | { readonly kind: "part-start"; readonly choice: number; readonly at: number; readonly part: Part }
  | { readonly kind: "part-delta"; readonly choice: number; readonly at: number; readonly delta: PartDelta }
  | { readonly kind: "part-end"; readonly choice: number; readonly at: number }
  | { readonly kind: "logprobs"; readonly choice: number; readonly value: unknown }
  | { readonly kind: "finish"; readonly choice: number; readonly finish: Finish; readonly extras?: Extras }
  | { readonly kind: "usage"; readonly usage: TokenUsage }
  | { readonly kind: "service-tier"; readonly tier: string }
  /** Fields of the answer as a whole that only its format knows. */
  | { readonly kind: "extras"; readonly extras: Extras }
  | { readonly kind: "error"; readonly error: VendorError };

export type PartDelta =
  /** To a text, a refusal or a reasoning. */
  | { readonly kind: "text"; readonly text: string }
  /** To a tool call's arguments. */
  | { readonly kind: "arguments"; readonly text: string }
  /** To a reasoning: all of its signature, or more of it. */
  | { readonly kind: "signature"; readonly value: string }
  /** To a reasoning: all of its encrypted part. */
  | { readonly kind: "encrypted"; readonly value: string }
  /** To a text. */
  | { readonly kind: "citation"; readonly citation: Citation }
  /** To a text or tool call: the vendor's proof came late. */
  | { readonly kind: "proof"; readonly value: string; readonly origin: string };
