import { members, times } from "./dimension.ts";

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string" };
const property = (index: number): Schema => ({ type: "object", properties: { [`p${index}`]: text } });
const required = (index: number): Schema => ({ ...property(index), required: [`p${index}`] });

/** Schemas with `n` elements of a kind, for tool parameters and answer formats. */
export const SCHEMA_DIMENSIONS: Readonly<Record<string, (n: number) => Schema>> = {
  "properties of a schema": (n) => ({ type: "object", properties: members(n, () => text) }),
  "required properties of a schema": (n) => ({
    type: "object",
    properties: members(n, () => text),
    required: Object.keys(members(n, () => text)),
  }),
  "branches of anyOf at a schema's root": (n) => ({ anyOf: times(n, property) }),
  "equal branches of anyOf at a schema's root": (n) => ({ anyOf: times(n, () => required(0)) }),
  "branches of anyOf with required properties": (n) => ({ anyOf: times(n, required) }),
  "branches of oneOf beside anyOf": (n) => ({ anyOf: times(n, property), oneOf: times(n, required) }),
  "branches of allOf at a schema's root": (n) => ({ allOf: times(n, property) }),
  "branches of allOf with one property": (n) => ({ allOf: times(n, () => required(0)) }),
  "branches of allOf with required properties": (n) => ({ allOf: times(n, required) }),
  "branches of allOf with a tuple": (n) => ({ allOf: times(n, () => ({ prefixItems: [text, text] })) }),
  "types in branches of allOf": (n) => ({ allOf: times(n, () => ({ type: ["string", "object", "null"] })) }),
  "values of an enum in branches of allOf": (n) => ({
    type: "object",
    properties: { p: { allOf: times(4, () => ({ enum: times(n, (index) => `v${index}`) })) } },
  }),
  "branches of anyOf in a property": (n) => ({
    type: "object",
    properties: { p: { anyOf: times(n, property) } },
  }),
  "branches of allOf in a property": (n) => ({
    type: "object",
    properties: { p: { allOf: times(n, property) } },
  }),
  "members of an enum": (n) => ({
    type: "object",
    properties: { p: { enum: times(n, (index) => `value ${index}`) } },
  }),
  "members of an enum of several kinds": (n) => ({
    type: "object",
    properties: { p: { enum: times(n, (index) => (index % 2 === 0 ? index : `value ${index}`)) } },
  }),
  "objects in an enum": (n) => ({
    type: "object",
    properties: { p: { enum: times(n, (index) => ({ value: index })) } },
  }),
  "places of a tuple": (n) => ({
    type: "object",
    properties: { p: { type: "array", prefixItems: times(n, property) } },
  }),
  "places of a tuple in the older spelling": (n) => ({
    type: "object",
    properties: { p: { type: "array", items: times(n, property) } },
  }),
  "types of a property": (n) => ({ type: "object", properties: { p: { type: times(n, () => "string") } } }),
  "unknown types of a property": (n) => ({
    type: "object",
    properties: { p: { type: times(n, (at) => `t${at}`) } },
  }),
  "definitions that are used once": (n) => ({
    type: "object",
    properties: members(n, () => ({})),
    $defs: members(n, property),
    anyOf: times(n, (index) => ({ $ref: `#/$defs/member_${index}` })),
  }),
  "references to one definition": (n) => ({
    type: "object",
    properties: members(n, () => ({ $ref: "#/$defs/one" })),
    $defs: { one: required(0) },
  }),
  "references to a definition with a long text": (n) => ({
    type: "object",
    properties: members(n, () => ({ $ref: "#/$defs/one" })),
    $defs: { one: { type: "string", description: "word ".repeat(100) } },
  }),
  "definitions that refer to the next": (n) => ({
    type: "object",
    properties: { p: { $ref: "#/$defs/member_0" } },
    $defs: members(n, (index) => ({ $ref: `#/$defs/member_${index + 1}`, description: "d" })),
  }),
  "steps of a reference": (n) => ({
    type: "object",
    properties: { p: { $ref: `#${"/properties".repeat(n)}` } },
  }),
  "unknown keywords": (n) => ({
    type: "object",
    properties: { p: { type: "string", ...members(n, () => 1) } },
  }),
  "patterns of property names": (n) => ({
    type: "object",
    patternProperties: members(n, () => text),
    additionalProperties: false,
  }),
  "constraints that no provider takes": (n) => ({
    type: "object",
    properties: members(n, () => ({ type: "string", not: { const: "x" }, minLength: 1, contains: {} })),
  }),
  "characters of a pattern": (n) => ({
    type: "object",
    properties: { p: { type: "string", pattern: "(?".repeat(n) } },
  }),
  "characters of a description": (n) => ({ type: "object", description: "word ".repeat(n) }),
  "values of a default": (n) => ({
    type: "object",
    properties: { p: { default: times(n, (index) => index) } },
  }),
};
