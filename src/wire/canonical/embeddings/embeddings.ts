import { fail } from "../../../base/failures/errors.ts";
import type { Fields } from "../../../base/json/fields.ts";
import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../../conversation/usage.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { TextInput } from "./read-inputs.ts";

/** The input of one vector. */
export type EmbeddingInput = TextInput;

/** The parameters of an embeddings request that formats share. */
export interface EmbeddingsParameters {
  readonly inputs: readonly EmbeddingInput[];
  /** The number of dimensions; null for the model's default. */
  readonly dimensions: number | null;
  /** The purpose of the vectors in Cohere's terms; null if the client gave none. */
  readonly inputType: string | null;
  /** The other fields of the client's request. */
  readonly extras: Fields;
}

/** A vendor's vectors, or its error. */
export type VectorsReading =
  | {
      readonly kind: "vectors";
      /** One vector per input, in the order of the inputs, as JSON: an array of numbers, or base64 of 32-bit floats. */
      readonly vectors: readonly string[];
      /** Null if the vendor sent no counters. */
      readonly usage: TokenUsage | null;
      /** Further fields of the vendor's answer for the client. */
      readonly extras: Fields;
    }
  | { readonly kind: "error"; readonly error: VendorError };

/**
 * Returns the inputs as texts, for a vendor that accepts at most `most` of them.
 * @throws GatewayError `invalid_request` for token ids, and for more inputs.
 */
export function requireTexts(inputs: readonly EmbeddingInput[], most: number): readonly string[] {
  if (inputs.length > most)
    rejectInput(`may have at most ${most} texts for this model; send several requests`);
  return inputs.map((input) =>
    typeof input === "string" ? input : rejectInput("must be text for this model; it takes no token ids"),
  );
}

function rejectInput(problem: string): never {
  return fail("invalid_request", `input ${problem}.`, { metadata: { field: "input" } });
}

/** Returns warnings for fields that are dropped because the vendor does not have them. */
export function warnOfDropped(fields: readonly string[]): Warning[] {
  return fields.map((field) => ({ field, message: "This provider does not know it; it was left out." }));
}

/** Lists the fields that are not null. */
export function listPresent(extras: Fields): string[] {
  return Object.keys(extras).filter((field) => extras[field] !== null);
}
