import { z } from "zod";
import type { JsonSchema } from "./document.ts";

/** Turns zod schemas into JSON Schema; those with an id of their own go to `components.schemas` and are referred to. */
export interface SchemaPrinter {
  /** `input`: what a request may send. `output`: what an answer has. */
  print(schema: z.ZodType, io: "input" | "output"): JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

const DEFS = "#/$defs/";
const COMPONENTS = "#/components/schemas/";

/** A printer with no components yet. */
export function createSchemaPrinter(): SchemaPrinter {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    print(schema, io) {
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
      const moved = JSON.parse(JSON.stringify(wrapped).replaceAll(DEFS, COMPONENTS)) as {
        readonly properties: { readonly it: JsonSchema };
        readonly $defs?: Readonly<Record<string, JsonSchema>>;
      };
      for (const [name, definition] of Object.entries(moved.$defs ?? {})) {
        const { id, ...rest } = definition;
        const known = components[name];
        if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest))
          throw new Error(`two schemas are called ${name}`);
        components[name] = rest;
      }
      return moved.properties.it;
    },
  };
}

/** What zod says beyond what a reader needs: patterns beside formats, the bounds of safe integers. */
function simplify(schema: Record<string, unknown>, io: "input" | "output"): void {
  if ("format" in schema) delete schema["pattern"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  // Answers may gain fields; whoever reads them is not to refuse those.
  if (io === "output" && schema["additionalProperties"] === false) delete schema["additionalProperties"];
}
