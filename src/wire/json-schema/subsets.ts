/** The subset of JSON Schema that a vendor accepts. */
export interface SubsetRules {
  /** The supported keywords; others are omitted. Null if all are supported, so that only the root is lowered. */
  readonly keywords: ReadonlySet<string> | null;
  /** The supported values of `format`; null if any value is. */
  readonly formats: ReadonlySet<string> | null;
  /** The kinds of values that an `enum` may have. */
  readonly enumKinds: ReadonlySet<string>;
  readonly refs: "kept" | "inlined";
  /** `object`: the root must have `type: object` and no alternatives. */
  readonly root: "any" | "object";
  /**
   * `closed`: unnamed properties are forbidden. `all-required`: in addition, all properties are required; those that were optional
   * may be null.
   */
  readonly objects: "unchanged" | "closed" | "all-required";
  /** The maximum value of `minItems`. */
  readonly maxMinItems: number;
  /** `regular`: patterns without lookaround, back references and word boundaries. `unanchored`: also without anchors. */
  readonly patterns: "any" | "regular" | "unanchored";
}

const PRIMITIVES = new Set(["string", "number", "boolean", "null"]);

const ANY: SubsetRules = {
  keywords: null,
  formats: null,
  enumKinds: PRIMITIVES,
  refs: "kept",
  root: "any",
  objects: "unchanged",
  maxMinItems: Number.POSITIVE_INFINITY,
  patterns: "any",
};

/**
 * Gemini's documented list for `responseJsonSchema`, and the constraints of its `Schema` object. References are inlined, because
 * required properties must not be cyclic and references must not have other keywords next to them.
 */
const GEMINI_OUTPUT: SubsetRules = {
  ...ANY,
  keywords: words(
    "type format title description default enum items prefixItems minItems maxItems minimum maximum minLength maxLength",
    "pattern minProperties maxProperties anyOf properties additionalProperties required propertyOrdering",
  ),
  enumKinds: new Set(["string", "number"]),
  refs: "inlined",
};

const FORMATS = words("date-time time date duration email hostname ipv4 ipv6 uuid");

/** The subsets of the vendors, by name. */
export const SUBSETS = {
  "gemini-output": GEMINI_OUTPUT,
  /** Parameters of Gemini's functions. */
  gemini: { ...GEMINI_OUTPUT, root: "object" },
  /** Converse accepts any JSON Schema whose root is a plain object: Claude rejects alternatives there. */
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
  /** Structured outputs of Anthropic, and of Claude at Bedrock. References are inlined, because they must not be recursive. */
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
  /** Cohere accepts any JSON Schema of an object for arguments, and does not enforce it strictly. */
  cohere: { ...ANY, root: "object" },
  /** Cohere's structured outputs, for answers and strict tools. */
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
} as const satisfies Record<string, SubsetRules>;

export type SchemaSubset = keyof typeof SUBSETS;

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(" ").split(" "));
}
