/** What of JSON Schema a vendor accepts. */
export interface DialectRules {
  /** Keywords that may stand; others are left out. Null: all, only the root is minded. */
  readonly keywords: ReadonlySet<string> | null;
  /** Values of `format`; null: any. */
  readonly formats: ReadonlySet<string> | null;
  /** Kinds of values an `enum` may hold. */
  readonly enumKinds: ReadonlySet<string>;
  readonly refs: "kept" | "inlined";
  /** `object`: the root says `type: object` and no alternatives. */
  readonly root: "any" | "object";
  /** `closed`: no properties but those named. `all-required`: moreover each is required, and may be null if it was not. */
  readonly objects: "as-said" | "closed" | "all-required";
  /** The largest `minItems`. */
  readonly maxMinItems: number;
  /** What patterns may do: look around, look back and name word ends; none of that; nor name the ends of the text. */
  readonly patterns: "any" | "regular" | "unanchored";
}

const PRIMITIVES = new Set(["string", "number", "boolean", "null"]);

const ANY: DialectRules = {
  keywords: null,
  formats: null,
  enumKinds: PRIMITIVES,
  refs: "kept",
  root: "any",
  objects: "as-said",
  maxMinItems: Number.POSITIVE_INFINITY,
  patterns: "any",
};

/**
 * Gemini's documented list for `responseJsonSchema`, and the constraints of the `Schema` object behind it. References are
 * unfolded, because a required property may hold no cyclic one and a reference no siblings.
 */
const GEMINI_OUTPUT: DialectRules = {
  ...ANY,
  keywords: words(
    "type format title description default enum items prefixItems minItems maxItems minimum maximum minLength maxLength",
    "pattern minProperties maxProperties anyOf properties additionalProperties required propertyOrdering",
  ),
  enumKinds: new Set(["string", "number"]),
  refs: "inlined",
};

const FORMATS = words("date-time time date duration email hostname ipv4 ipv6 uuid");

/** Each dialect by its name. */
export const DIALECTS = {
  "gemini-output": GEMINI_OUTPUT,
  /** Of a function's parameters. */
  gemini: { ...GEMINI_OUTPUT, root: "object" },
  /** Converse takes any JSON Schema, but its root must be a plain object: Claude there refuses alternatives. */
  bedrock: { ...ANY, root: "object" },
  /** OpenAI's structured outputs. */
  "openai-strict": {
    ...ANY,
    keywords: words(
      "type enum const properties required additionalProperties items anyOf $ref $defs definitions title description",
      "pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems",
    ),
    formats: FORMATS,
    root: "object",
    objects: "all-required",
  },
  /** Anthropic's structured outputs, and Bedrock's of Claude. References are unfolded, because none may be recursive. */
  "anthropic-output": {
    ...ANY,
    keywords: words(
      "type enum const default properties required additionalProperties items minItems anyOf title description pattern format",
    ),
    formats: new Set([...FORMATS, "uri"]),
    refs: "inlined",
    root: "object",
    objects: "closed",
    maxMinItems: 1,
    patterns: "regular",
  },
  /** Cohere holds arguments loosely to any JSON Schema of an object. */
  cohere: { ...ANY, root: "object" },
  /** Cohere's structured outputs, of answers and of strict tools. */
  "cohere-output": {
    ...ANY,
    keywords: words(
      "type enum const default properties required additionalProperties items anyOf $ref $defs definitions title description",
      "pattern format",
    ),
    formats: words("date-time uuid date time"),
    root: "object",
    patterns: "unanchored",
  },
} as const satisfies Record<string, DialectRules>;

export type SchemaDialect = keyof typeof DIALECTS;

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(" ").split(" "));
}
