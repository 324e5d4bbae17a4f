import { z } from "zod";
import type { JsonSchema } from "./document.ts";

type Direction = "input" | "output";

/** Converts zod schemas to JSON Schema. Schemas with an id go to `components.schemas` and are referenced. */
export interface SchemaPrinter {
  /** `input` describes requests, `output` responses. */
  print(schema: z.ZodType, io: Direction): JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

const DEFS = "#/$defs/";
const COMPONENTS = "#/components/schemas/";

/** Returns a printer without components. */
export function createSchemaPrinter(): SchemaPrinter {
  const components: Record<string, JsonSchema> = {};
  // Operations share the schemas of their errors.
  const printed = { input: new Map<z.ZodType, JsonSchema>(), output: new Map<z.ZodType, JsonSchema>() };
  return {
    components,
    print(schema, io) {
      const known = printed[io].get(schema);
      if (known !== undefined) return known;
      const { definitions, it } = convert(schema, io);
      for (const [name, definition] of Object.entries(definitions))
        addComponent(components, name, definition);
      printed[io].set(schema, it);
      return it;
    },
  };
}

function convert(schema: z.ZodType, io: Direction) {
  // A schema with an id in a wrapper also becomes a reference.
  const wrapped = z.toJSONSchema(z.object({ it: schema }), {
    io,
    target: "draft-2020-12",
    override: ({ zodSchema, jsonSchema }) => {
      simplify(jsonSchema, io);
      // zod drops the examples of transformed schemas. Ours are examples of the input.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (examples !== undefined) Object.assign(jsonSchema, { examples });
    },
  });
  const { properties, $defs } = JSON.parse(JSON.stringify(wrapped).replaceAll(DEFS, COMPONENTS)) as {
    readonly properties: { readonly it: JsonSchema };
    readonly $defs?: Readonly<Record<string, JsonSchema>>;
  };
  return { it: properties.it, definitions: $defs ?? {} };
}

/** Adds a component. @throws Error if another schema has the same name, for example one that requests and responses share. */
function addComponent(components: Record<string, JsonSchema>, name: string, definition: JsonSchema): void {
  const { id, ...rest } = definition;
  const known = components[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest))
    throw new Error(`two schemas are called ${name}`);
  components[name] = rest;
}

/** Removes what readers do not need: patterns of formats, and the bounds of safe integers. */
function simplify(schema: Record<string, unknown>, io: Direction): void {
  if ("format" in schema) delete schema["pattern"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  // Responses may get new fields, which clients must accept.
  if (io === "output" && schema["additionalProperties"] === false) delete schema["additionalProperties"];
}
