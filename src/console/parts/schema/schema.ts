/** JSON Schema as the API describes the configuration with it, and what a form makes of it. Pure functions. */

/** The part of JSON Schema that describes the configuration, with the marks of the API. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly secret?: boolean;
  readonly needsRestart?: boolean;
  readonly fileOnly?: boolean;
  readonly entriesBy?: string;
}

/** How a value is edited. */
export type FieldKind =
  | "switch"
  | "choice"
  | "number"
  | "text"
  | "secret"
  | "texts"
  | "choices"
  | "list"
  | "map"
  | "object"
  | "union"
  | "json";

/** A schema that would fill several pages as a form is edited as JSON. Characters of the schema. */
const MAX_FORM_CHARS = 12_000;

/** Returns how a value of a schema is edited. */
export function kindOf(schema: Schema): FieldKind {
  const variants = variantsOf(schema);
  if (variants !== null) return kindOfUnion(variants);
  if (schema.secret) return "secret";
  if (schema.enum !== undefined) return "choice";
  if (isTextOrNumber(schema.type)) return "text";
  switch (schema.type) {
    case "boolean":
      return "switch";
    case "number":
    case "integer":
      return "number";
    case "string":
      return "text";
    case "array":
      return kindOfList(schema);
    case "object":
      return kindOfObject(schema);
    default:
      return "json";
  }
}

/** A number that may also be written as a text, such as a percentage, is edited as text. */
function isTextOrNumber(type: Schema["type"]): boolean {
  return Array.isArray(type) && type.every((one) => one === "string" || one === "number");
}

/** Returns the alternatives of a schema; null if there is only one. */
export function variantsOf({ anyOf, oneOf }: Schema): readonly Schema[] | null {
  return oneOf ?? anyOf ?? null;
}

function kindOfUnion(variants: readonly Schema[]): FieldKind {
  const isText = variants.every(({ type }) => type === "string" || type === "number");
  if (isText && variants.every((one) => one.const === undefined)) return "text";
  return variants.every((one) => kindOf(one) !== "json" || one.type === "null") ? "union" : "json";
}

function kindOfList({ items }: Schema): FieldKind {
  if (typeof items !== "object") return "json";
  if (items.enum !== undefined) return "choices";
  if (items.type === "string" && !items.secret) return "texts";
  const isForm = ["object", "union"].includes(kindOf(items));
  return isForm && JSON.stringify(items).length <= MAX_FORM_CHARS ? "list" : "json";
}

function kindOfObject({ properties, additionalProperties }: Schema): FieldKind {
  if (properties !== undefined) return "object";
  if (typeof additionalProperties !== "object") return "json";
  return JSON.stringify(additionalProperties).length <= MAX_FORM_CHARS ? "map" : "json";
}

/** Returns whether a value is edited in one line beside its name. */
export function isShort(schema: Schema): boolean {
  return ["switch", "choice", "number", "text", "secret"].includes(kindOf(schema));
}

/** Returns the alternative that a value belongs to; 0 if none fits. */
export function findVariant(variants: readonly Schema[], value: unknown): number {
  return Math.max(
    0,
    variants.findIndex((variant) => fits(variant, value)),
  );
}

function fits(
  { type, const: only, enum: allowed, properties, required = [] }: Schema,
  value: unknown,
): boolean {
  if (only !== undefined) return value === only;
  if (allowed !== undefined) return allowed.includes(value);
  if (type === "null") return value === null;
  if (type === "integer" || type === "number") return typeof value === "number";
  if (type === "array") return Array.isArray(value);
  if (type !== "object") return typeof value === type;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const constants = Object.entries(properties ?? {}).filter(([, one]) => one.const !== undefined);
  if (constants.length > 0) return constants.every(([name, one]) => fields[name] === one.const);
  return required.every((name) => name in fields);
}

/** Returns the name of an alternative: its constant, or the fields that only it requires. */
export function nameVariant(variant: Schema, others: readonly Schema[]): string {
  const { const: only, type, properties = {}, required = [] } = variant;
  if (only !== undefined) return String(only);
  const constant = Object.entries(properties).find(([, one]) => one.const !== undefined);
  if (constant !== undefined) return constant[1].const === true ? constant[0] : String(constant[1].const);
  if (type !== "object") return String(type);
  const own = required.filter((name) => others.some((other) => !other.required?.includes(name)));
  return own.map(nameField).join(", ").toLowerCase();
}

/** Returns what a new value of a schema begins with: its constants and defaults that are required. */
export function startValue(schema: Schema): unknown {
  const [first] = variantsOf(schema) ?? [];
  if (first !== undefined) return startValue(first);
  const { const: only, type, properties = {}, required = [], default: byDefault } = schema;
  if (only !== undefined) return only;
  if (type === "object") {
    const fixed = Object.entries(properties).filter(
      ([name, one]) => one.const !== undefined && required.includes(name),
    );
    return Object.fromEntries(fixed.map(([name, one]) => [name, one.const]));
  }
  if (type === "null") return null;
  return byDefault;
}

const SHORT_WORDS: Readonly<Record<string, string>> = {
  url: "URL",
  id: "ID",
  ms: "ms",
  cors: "CORS",
  oidc: "OIDC",
  byok: "BYOK",
  api: "API",
  websocket: "WebSocket",
  websockets: "WebSockets",
  zdr: "ZDR",
};

/** Returns the name of a setting as people read it, without the unit that it ends with: `first_token_ms` is "First token". */
export function nameField(key: string): string {
  const words = key
    .replace(/_bytes$/, "_size")
    .replace(/_(ms|days|hours|minutes|percent)$/, "")
    .split("_");
  const text = words.map((word) => SHORT_WORDS[word] ?? word).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns an object with a member set, or without it if the value is undefined. */
export function withMember(value: unknown, name: string, member: unknown): Readonly<Record<string, unknown>> {
  const before = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const { [name]: _, ...others } = before as Record<string, unknown>;
  if (member === undefined) return others;
  return name in before ? { ...before, [name]: member } : { ...others, [name]: member };
}
