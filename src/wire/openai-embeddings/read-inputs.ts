import { BOUNDS } from "../../base/bounds.ts";
import { rejectField } from "../../base/errors.ts";
import type { EmbeddingInput } from "../canonical/embeddings.ts";

/**
 * Parses `input`: a text, token ids, or an array of either.
 * @throws GatewayError `invalid_request` for anything else, for empty inputs, and for too many.
 */
export function readInputs(input: unknown): readonly EmbeddingInput[] {
  if (input === undefined || input === null)
    rejectField("input", "is required: a text, or an array of texts");
  if (typeof input === "string") return [requireContent(input, "input")];
  if (!Array.isArray(input)) rejectField("input", "must be a text, token ids, or an array of either");
  if (input.length === 0) rejectField("input", "must have at least one text");
  return isTokenIds(input) ? [input] : readList(input);
}

function readList(input: readonly unknown[]): readonly EmbeddingInput[] {
  if (input.length > BOUNDS.embeddingInputs)
    rejectField("input", `may have at most ${BOUNDS.embeddingInputs} texts; send several requests`);
  const isWanted = typeof input[0] === "string" ? isText : isTokenIds;
  return input.map((value, place) =>
    isWanted(value)
      ? requireContent(value, `input[${place}]`)
      : rejectField(`input[${place}]`, "must be a text or token ids, as the others are"),
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTokenIds(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((id) => Number.isSafeInteger(id) && id >= 0);
}

function requireContent<T extends EmbeddingInput>(input: T, field: string): T {
  return input.length > 0 ? input : rejectField(field, "must not be empty");
}
