import { rejectField } from "../../../base/failures/errors.ts";

/** A text, or the ids of its tokens that the client computed. */
export type TextInput = string | readonly number[];

/** The field that holds inputs, and its bounds. */
interface InputField {
  readonly name: string;
  /** Maximum number of inputs of one request. */
  readonly most: number;
  /** Whether a text may be empty. Defaults to false. */
  readonly mayBeEmpty?: boolean;
}

/**
 * Parses a field that has a text, token ids, or an array of either.
 * @throws GatewayError `invalid_request` for anything else, for empty inputs, and for too many.
 */
export function readInputs(input: unknown, field: InputField): readonly TextInput[] {
  const { name } = field;
  if (input === undefined || input === null) rejectField(name, "is required: a text, or an array of texts");
  if (typeof input === "string") return [requireContent(input, field, name)];
  if (!Array.isArray(input)) rejectField(name, "must be a text, token ids, or an array of either");
  if (input.length === 0) rejectField(name, "must have at least one text");
  return isTokenIds(input) ? [input] : readList(input, field);
}

function readList(input: readonly unknown[], field: InputField): readonly TextInput[] {
  const { name, most } = field;
  if (input.length > most) rejectField(name, `may have at most ${most} texts; send several requests`);
  const isWanted = typeof input[0] === "string" ? isText : isTokenIds;
  return input.map((value, place) =>
    isWanted(value)
      ? requireContent(value, field, `${name}[${place}]`)
      : rejectField(`${name}[${place}]`, "must be a text or token ids, as the others are"),
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTokenIds(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((id) => Number.isSafeInteger(id) && id >= 0);
}

function requireContent<T extends TextInput>(input: T, { mayBeEmpty }: InputField, place: string): T {
  const isAllowed = input.length > 0 || (mayBeEmpty === true && typeof input === "string");
  return isAllowed ? input : rejectField(place, "must not be empty");
}
