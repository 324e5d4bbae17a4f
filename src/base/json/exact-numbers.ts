/**
 * Parses the arguments of a call without rounding numbers. As a double, 1234567890123456789 would be printed as 1234567890123456800.
 * Numbers that a double cannot represent become values of `JSON.rawJSON`, which only `JSON.stringify` understands.
 * @throws SyntaxError.
 */
export function parseArgumentsExactly(text: string): unknown {
  if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text);
  const value = parseWithDigits(text);
  return isRaw(value) ? Number(value.rawJSON) : value;
}

/**
 * Parses JSON. Numbers in the arguments of calls keep all digits, as in `parseArgumentsExactly`. Other numbers, which the gateway may read,
 * become ordinary numbers.
 * @throws SyntaxError.
 */
export function parseWithCalls(text: string): unknown {
  return MAY_BE_INEXACT.test(text) ? readNumbers(parseWithDigits(text)) : JSON.parse(text);
}

/** Numbers with fewer digits are exact. */
const MAY_BE_INEXACT = /[\d.]{16}/;

/**
 * Members that contain the arguments of a call as an object: in Messages and Bedrock, in Gemini, and at some chat hosts. A call has a
 * `name`.
 */
const ARGUMENT_MEMBERS: ReadonlySet<string> = new Set(["input", "args", "arguments"]);

/** Members of `JSON` that TypeScript's library does not declare yet. */
const {
  parse,
  rawJSON,
  isRawJSON: isRaw,
} = JSON as unknown as {
  readonly parse: (text: string, revive: Revive) => unknown;
  readonly rawJSON: (json: string) => unknown;
  readonly isRawJSON: (value: unknown) => value is { readonly rawJSON: string };
};

type Revive = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

function parseWithDigits(text: string): unknown {
  return parse(text, (_key, value, { source }) =>
    typeof value !== "number" || source === undefined || isSameNumber(source, value)
      ? value
      : rawJSON(source),
  );
}

function isSameNumber(source: string, value: number): boolean {
  return Number.isFinite(value) && normalForm(source) === normalForm(String(value));
}

/** Returns the canonical form of a decimal number: its significant digits, and the power of ten of the last digit. */
function normalForm(number: string): string {
  const [mantissa = "", exponent = "0"] = number.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = (whole + fraction).replace(LEADING_ZEROS, "");
  const significant = withoutLastZeros(digits);
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return significant === "" ? "0" : `${significant}e${power}`;
}

const LEADING_ZEROS = /^0+/;

/** Removes zeros without a regular expression, which takes quadratic time for long runs of zeros. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

/** Converts exact numbers to ordinary ones, except in the arguments of calls. Changes the value in place and returns it. */
function readNumbers(value: unknown): unknown {
  if (isRaw(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = readNumbers(value[at]);
  } else if (typeof value === "object" && value !== null) {
    const fields = value as Record<string, unknown>;
    const isCall = typeof fields["name"] === "string";
    for (const key of Object.keys(fields)) {
      if (isCall && ARGUMENT_MEMBERS.has(key)) continue;
      // biome-ignore lint/plugin: the object has this member itself, so the assignment sets no prototype.
      fields[key] = readNumbers(fields[key]);
    }
  }
  return value;
}
