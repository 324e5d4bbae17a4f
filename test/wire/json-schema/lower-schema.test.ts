import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Fields } from "../../../src/base/json/fields.ts";
import { lowerSchema } from "../../../src/wire/json-schema/lower-schema.ts";
import { type SchemaSubset, SUBSETS } from "../../../src/wire/json-schema/subsets.ts";
import { growsLinearly, LARGER } from "../../growth/measure-growth.ts";
import { shareOf } from "../../support/long-run.ts";
import { isValid } from "./evaluate-schema.ts";
import { findMisfits } from "./fits-subset.ts";

const ALL = Object.keys(SUBSETS) as SchemaSubset[];
const LOOSENING: readonly SchemaSubset[] = ["gemini", "gemini-output", "bedrock", "cohere", "cohere-output"];

const PRIMITIVE = fc.constantFrom<unknown>("a", "b", 1, 2, 3, true, false, null);
const NAME = fc.constantFrom("a", "b", "c");

/** Any schema over few names and values, so that instances often match it. */
const SCHEMA = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom<unknown>(
      true,
      {},
      { type: "string" },
      { type: "integer" },
      { const: "a" },
      { $ref: "#/$defs/D" },
    ),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null"),
          fc.subarray(["object", "string", "number", "null"], { minLength: 1 }),
        ),
        enum: fc.array(PRIMITIVE, { minLength: 1, maxLength: 3 }),
        const: PRIMITIVE,
        properties: fc.dictionary(NAME, tie("schema"), { maxKeys: 3 }),
        required: fc.uniqueArray(NAME, { maxLength: 2 }),
        additionalProperties: fc.oneof(tie("schema"), fc.constant(false)),
        patternProperties: fc.dictionary(fc.constantFrom("^b", "c"), tie("schema"), { maxKeys: 1 }),
        items: fc.oneof(tie("schema"), fc.constant(false)),
        prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
        oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
        allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
        not: tie("schema"),
        minimum: fc.integer({ min: 0, max: 3 }),
        exclusiveMinimum: fc.integer({ min: 0, max: 3 }),
        exclusiveMaximum: fc.integer({ min: 0, max: 3 }),
        multipleOf: fc.constantFrom(1, 2),
        minLength: fc.constantFrom(0, 1, 2),
        minItems: fc.constantFrom(0, 1, 2),
        description: fc.constantFrom("one", "two"),
      },
      { requiredKeys: [] },
    ),
  ),
})).schema;

const DOCUMENT = fc
  .tuple(SCHEMA, SCHEMA)
  .filter(([root]) => typeof root === "object")
  .map(([root, definition]) => ({ ...(root as Fields), $defs: { D: definition } }));

const INSTANCE = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    PRIMITIVE,
    fc.dictionary(NAME, tie("value"), { maxKeys: 3 }),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
})).value;
const OBJECT = fc.dictionary(NAME, INSTANCE, { maxKeys: 3 });

/** Evaluates a schema; null if a definition is only a reference to itself. */
function evaluate(instance: unknown, schema: unknown): boolean | null {
  try {
    return isValid(instance, schema);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

describe("lowering any JSON Schema", () => {
  test.each(ALL)("returns a schema within the subset %s, and lowering it again changes nothing", (subset) => {
    fc.assert(
      fc.property(DOCUMENT, (schema) => {
        const once = lowerSchema(schema, subset, "p").schema;
        expect(findMisfits(once, subset)).toEqual([]);
        const twice = lowerSchema(once, subset, "p");
        expect(twice.schema).toEqual(once);
      }),
      { numRuns: shareOf(250, 1 / 15) },
    );
  });

  test.each(LOOSENING)("to the subset %s keeps valid instances valid", (subset) => {
    fc.assert(
      fc.property(
        DOCUMENT,
        fc.array(subset === "gemini-output" ? INSTANCE : OBJECT, { minLength: 8 }),
        (schema, instances) => {
          const lowered = lowerSchema(schema, subset, "p").schema;
          const valid = instances.filter((instance) => evaluate(instance, schema) === true);
          expect(valid.filter((instance) => evaluate(instance, lowered) === false)).toEqual([]);
        },
      ),
      { numRuns: shareOf(500, 1 / 15) },
    );
  });

  test.each(ALL)("changes nothing and adds no warning if the schema is within the subset %s", (subset) => {
    const fitting = {
      type: "object",
      description: "A place",
      properties: {
        city: { type: "string", description: "Where" },
        unit: { type: "string", enum: ["C", "F"] },
        days: {
          type: "array",
          items: { type: "integer" },
          ...(subset === "cohere-output" ? {} : { minItems: 1 }),
        },
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
      required: ["city", "unit", "days", "either"],
      additionalProperties: false,
    };
    expect(lowerSchema(fitting, subset, "p")).toEqual({ schema: fitting, loosened: [] });
  });
});

interface Case {
  readonly name: string;
  readonly subset: SchemaSubset;
  readonly schema: Fields;
  readonly lowered: Fields;
  readonly warned: readonly string[];
}

const object = (properties: Fields, rest: Fields = {}): Fields => ({ type: "object", properties, ...rest });

const CASES: readonly Case[] = [
  {
    name: "references are inlined, and keywords next to them take precedence",
    subset: "gemini",
    schema: object(
      { a: { $ref: "#/$defs/City", description: "mine" } },
      { $defs: { City: { type: "string", description: "theirs" } } },
    ),
    lowered: object({ a: { type: "string", description: "mine" } }),
    warned: [],
  },
  {
    name: "definitions and tuples in the spelling of older drafts are understood",
    subset: "gemini",
    schema: object(
      { a: { $ref: "#/definitions/P" } },
      { definitions: { P: { type: "array", items: [{ type: "string" }], additionalItems: false } } },
    ),
    lowered: object({ a: { type: "array", prefixItems: [{ type: "string" }], maxItems: 1 } }),
    warned: [],
  },
  {
    name: "recursion is cut off with a warning",
    subset: "gemini",
    schema: object(
      { root: { $ref: "#/$defs/N" } },
      { $defs: { N: object({ next: { $ref: "#/$defs/N" } }) } },
    ),
    lowered: object({ root: object({ next: object({ next: { type: "object" } }) }) }),
    warned: ["p.properties.root.properties.next.properties.next"],
  },
  {
    name: "references are kept if the vendor accepts them, including recursive ones",
    subset: "openai-strict",
    schema: object(
      { n: { allOf: [{ $ref: "#/$defs/N" }], description: "first" } },
      { required: ["n"], $defs: { N: object({ next: { $ref: "#/$defs/N" } }) } },
    ),
    lowered: {
      ...object({ n: { $ref: "#/$defs/N" } }),
      required: ["n"],
      additionalProperties: false,
      $defs: {
        N: {
          ...object({ next: { anyOf: [{ $ref: "#/$defs/N" }, { type: "null" }] } }),
          required: ["next"],
          additionalProperties: false,
        },
      },
    },
    warned: [],
  },
  {
    name: "constants, null values and exclusive bounds are converted without loss",
    subset: "gemini",
    schema: object({
      a: { const: "x" },
      b: { type: ["string", "null"], enum: ["y", null] },
      c: { type: "integer", exclusiveMinimum: 4 },
    }),
    lowered: object({
      a: { enum: ["x"] },
      b: { anyOf: [{ type: "string", enum: ["y"] }, { type: "null" }] },
      c: { type: "integer", minimum: 5 },
    }),
    warned: [],
  },
  {
    name: "a warning names each keyword that is left out",
    subset: "gemini",
    schema: object({
      a: { type: "number", multipleOf: 2, exclusiveMaximum: 9 },
      b: { not: { type: "string" } },
      c: { oneOf: [{ type: "string" }, { type: "number" }] },
    }),
    lowered: object({
      a: { type: "number", maximum: 9 },
      b: {},
      c: { anyOf: [{ type: "string" }, { type: "number" }] },
    }),
    warned: [
      "p.properties.a.exclusiveMaximum",
      "p.properties.a.multipleOf",
      "p.properties.b.not",
      "p.properties.c.oneOf",
    ],
  },
  {
    name: "an object that allows only names that match a pattern allows any names",
    subset: "gemini",
    schema: object({}, { patternProperties: { "^x": {} }, additionalProperties: false }),
    lowered: object({}),
    warned: ["p.patternProperties"],
  },
  {
    name: "allOf is merged",
    subset: "gemini",
    schema: object({
      a: {
        allOf: [object({ x: { type: "string" } }, { required: ["x"] }), object({ y: { type: "number" } })],
      },
    }),
    lowered: object({ a: object({ x: { type: "string" }, y: { type: "number" } }, { required: ["x"] }) }),
    warned: [],
  },
  {
    name: "alternatives at the root become one object with all their properties",
    subset: "bedrock",
    schema: {
      anyOf: [
        object(
          { one: { type: "string" }, both: { type: "string" } },
          { required: ["one", "both"], additionalProperties: false },
        ),
        object(
          { many: { type: "array" }, both: { type: "string" } },
          { required: ["many", "both"], additionalProperties: false },
        ),
      ],
    },
    lowered: {
      ...object({ one: { type: "string" }, both: { type: "string" }, many: { type: "array" } }),
      required: ["both"],
      additionalProperties: false,
    },
    warned: ["p"],
  },
  {
    name: "a root without a type becomes an object",
    subset: "bedrock",
    schema: { properties: { a: { not: {} } } },
    lowered: object({ a: { not: {} } }),
    warned: [],
  },
  {
    name: "optional properties become required and nullable, and maps lose their unnamed properties",
    subset: "openai-strict",
    schema: object(
      {
        a: { type: "string", default: "x" },
        b: { enum: ["y"], type: "string" },
        c: { type: "object", additionalProperties: { type: "string" } },
      },
      { required: ["b"] },
    ),
    lowered: {
      ...object({
        a: { type: ["string", "null"] },
        b: { enum: ["y"], type: "string" },
        c: { type: ["object", "null"], properties: {}, required: [], additionalProperties: false },
      }),
      required: ["a", "b", "c"],
      additionalProperties: false,
    },
    warned: ["p.properties.c"],
  },
  {
    name: "bounds and most formats and patterns are left out for Claude's structured outputs",
    subset: "anthropic-output",
    schema: object({
      a: { type: "string", minLength: 2, format: "regex", pattern: "(?=a)" },
      b: { type: "array", minItems: 3, maxItems: 4, items: { type: "string" } },
    }),
    lowered: object(
      { a: { type: "string" }, b: { type: "array", minItems: 1, items: { type: "string" } } },
      { additionalProperties: false },
    ),
    warned: [
      "p.properties.a.format",
      "p.properties.a.pattern",
      "p.properties.a.minLength",
      "p.properties.b.minItems",
      "p.properties.b.maxItems",
    ],
  },
];

describe("lowering a JSON Schema", () => {
  test.each(CASES.map((each) => [each.name, each] as const))(
    "%s",
    (_name, { subset, schema, lowered, warned }) => {
      const { schema: got, loosened } = lowerSchema(schema, subset, "p");
      expect(got).toEqual(lowered);
      expect(loosened.map(({ field }) => field)).toEqual([...warned]);
    },
  );
});

describe("lowering hostile schemas", () => {
  const deep = (levels: number, wrap: (inner: Fields) => Fields): Fields => {
    let schema: Fields = { type: "string" };
    for (let level = 0; level < levels; level++) schema = wrap(schema);
    return schema;
  };

  /** A schema whose expansion doubles with each level. */
  const doubling = (levels: number): Fields => {
    const $defs: Record<string, unknown> = { D0: { type: "string", description: "x".repeat(1000) } };
    for (let level = 1; level < levels; level++) {
      const ref = { $ref: `#/$defs/D${level - 1}` };
      $defs[`D${level}`] = object({ l: ref, r: ref, both: { allOf: [ref, { type: "object" }] } });
    }
    return { type: "object", properties: { a: { $ref: `#/$defs/D${levels - 1}` } }, $defs };
  };
  const HOSTILE: Readonly<Record<string, (levels: number) => Fields>> = {
    arrays: (levels) => object({ a: deep(levels, (items) => ({ type: "array", items })) }),
    allOf: (levels) => object({ a: deep(levels, (inner) => ({ allOf: [inner] })) }),
    anyOf: (levels) => object({ a: deep(levels, (inner) => ({ anyOf: [inner] })) }),
    "a doubling expansion": (levels) => doubling(levels / 25),
  };

  test.each(ALL)(
    "takes linear time for %s, even if they are deep or double in size with each level",
    (subset) => {
      for (const [name, make] of Object.entries(HOSTILE)) {
        const lower = (levels: number) => {
          const schema = make(levels);
          return () => lowerSchema(schema, subset, "p");
        };
        const [small, large] = [625, LARGER * 625];
        expect([name, growsLinearly(lower(small), lower(large))]).toEqual([name, true]);
      }
    },
  );

  test.each(ALL)(
    "returns small schemas with few warnings for %s, even if they are deep, doubling or circular",
    (subset) => {
      const hostile = [
        ...Object.values(HOSTILE).map((make) => make(5_000)),
        object(
          { a: { $ref: "#/$defs/A" } },
          { $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } },
        ),
        object(JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"$ref": "#/__proto__"}}')),
      ];
      for (const schema of hostile) {
        const { schema: lowered, loosened } = lowerSchema(schema, subset, "p");
        expect(loosened.length).toBeLessThan(30);
        if (subset !== "bedrock") expect(JSON.stringify(lowered).length).toBeLessThan(2_000_000);
      }
    },
  );

  test("keeps a property named __proto__", () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    expect(JSON.stringify(lowerSchema(schema, "gemini", "p").schema)).toBe(JSON.stringify(schema));
  });
});
