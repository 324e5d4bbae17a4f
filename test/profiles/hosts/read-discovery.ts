import type { ReadSchema } from "./read-openapi.ts";
import type { Schema } from "./schema.ts";

/** A schema of one of Google's discovery documents. */
interface DiscoverySchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, DiscoverySchema>>;
  readonly additionalProperties?: DiscoverySchema;
  readonly items?: DiscoverySchema;
}

type Schemas = Readonly<Record<string, DiscoverySchema>>;

/** Reads a request from a discovery document of Google. Integers of 64 bits may be written as texts, as its JSON has them. */
export function readDiscovery(document: { readonly schemas: Schemas }, request: string): ReadSchema {
  const definitions: Record<string, Schema> = {};
  const reduce = (schema: DiscoverySchema): Schema => {
    if (schema.$ref !== undefined) return refer(schema.$ref);
    if (schema.format === "int64") return { anyOf: [{ type: "integer" }, { type: "string" }] };
    return {
      ...(schema.type === undefined || schema.type === "any"
        ? {}
        : { type: schema.type as NonNullable<Schema["type"]> }),
      ...(schema.enum === undefined ? {} : { enum: schema.enum }),
      ...(schema.items === undefined ? {} : { items: reduce(schema.items) }),
      ...(schema.properties === undefined ? {} : { properties: reduceMembers(schema.properties) }),
      ...(schema.additionalProperties === undefined
        ? {}
        : { additionalProperties: reduceOthers(schema.additionalProperties) }),
    };
  };
  const reduceMembers = (members: Schemas) =>
    Object.fromEntries(Object.entries(members).map(([name, one]) => [name, reduce(one)]));
  const reduceOthers = (others: DiscoverySchema) => (others.type === "any" ? true : reduce(others));
  const refer = (name: string): Schema => {
    if (!Object.hasOwn(definitions, name)) {
      definitions[name] = {};
      definitions[name] = reduce(document.schemas[name] as DiscoverySchema);
    }
    return { $ref: name };
  };
  return { body: reduce(document.schemas[request] as DiscoverySchema), definitions };
}
