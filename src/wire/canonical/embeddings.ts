import { fail } from "../../base/errors.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import type { VendorError } from "../conversation/vendor-error.ts";
import type { Warning } from "../conversation/warning.ts";
import type { Fields } from "../json/fields.ts";

/** What one vector is made of: a text, or one that the client has already turned into token ids. */
export type EmbeddingInput = string | readonly number[];

/** What a client asks of an embedding model, as far as formats share it. */
export interface EmbeddingsParameters {
  readonly inputs: readonly EmbeddingInput[];
  /** Numbers a vector; null: as many as the model gives by itself. */
  readonly dimensions: number | null;
  /** What the vectors are for, in Cohere's words; null where the client did not say. */
  readonly inputType: string | null;
  /** The client's other fields. */
  readonly extras: Fields;
}

/** A vendor's vectors, or why there are none. */
export type VectorsReading =
  | {
      readonly kind: "vectors";
      /** One an input, in the order of the inputs, each as JSON: an array of numbers, or base64 of 32-bit floats. */
      readonly vectors: readonly string[];
      /** Null where the vendor gave no numbers. */
      readonly usage: TokenUsage | null;
      /** Fields of the vendor's answer that clients of this format read. */
      readonly extras: Fields;
    }
  | { readonly kind: "error"; readonly error: VendorError };

/**
 * The inputs as texts, for a vendor that takes at most `most` of them.
 * @throws GatewayError `invalid_request` for token ids, and for more.
 */
export function requireTexts(inputs: readonly EmbeddingInput[], most: number): readonly string[] {
  if (inputs.length > most)
    refuseInput(`may have at most ${most} texts for this model; send several requests`);
  return inputs.map((input) =>
    typeof input === "string" ? input : refuseInput("must be text for this model; it takes no token ids"),
  );
}

function refuseInput(problem: string): never {
  return fail("invalid_request", `input ${problem}.`, { metadata: { field: "input" } });
}

/** Names fields that a vendor does not know. */
export function nameLeftOut(names: readonly string[]): Warning[] {
  return names.map((field) => ({ field, message: "This provider does not know it; it was left out." }));
}

/** The names of fields that say something: null stands for absent. */
export function listPresent(extras: Fields): string[] {
  return Object.keys(extras).filter((field) => extras[field] !== null);
}
