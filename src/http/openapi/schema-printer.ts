import { z } from "zod";
import type { JsonSchema } from "./document.ts";

type Direction = "input" | "output";

/** Turns zod schemas into JSON Schema; those with an id of their own go to `components.schemas` and are referred to. */
export interface SchemaPrinter {
  /** `input`: what a request may send. `output`: what an answer has. */
  print(schema: z.ZodType, io: Direction): JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

const DEFS = "#/$defs/";
const COMPONENTS = "#/components/schemas/";

/** A printer with no components yet. */
export function createSchemaPrinter(): SchemaPrinter {
  const components: Record<string, JsonSchema> = {};
  // The same errors stand at every operation.
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
  // In a wrapper the schema itself is referred to as well, when it has an id.
  const wrapped = z.toJSONSchema(z.object({ it: schema }), {
    io,
    target: "draft-2020-12",
    override: ({ zodSchema, jsonSchema }) => {
      simplify(jsonSchema, io);
      // Of what is transformed zod drops the examples; ours are of what is sent.
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

/** @throws Error for two schemas of one name, such as one that requests and answers would have in common. */
function addComponent(components: Record<string, JsonSchema>, name: string, definition: JsonSchema): void {
  const { id, ...rest } = definition;
  const known = components[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest))
    throw new Error(`two schemas are called ${name}`);
  components[name] = rest;
}

/** What zod says beyond what a reader needs: patterns beside formats, the bounds of safe integers. */
function simplify(schema: Record<string, unknown>, io: Direction): void {
  if ("format" in schema) delete schema["pattern"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  // Answers may gain fields; whoever reads them is not to refuse those.
  if (io === "output" && schema["additionalProperties"] === false) delete schema["additionalProperties"];
}
