import { asFields, type Fields } from "../../base/json/fields.ts";
import { flattenSchema } from "./flatten-schema.ts";
import { loosen, loosenKeyword, type Position, requireBranches } from "./lowering.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import { unionObjects } from "./union-objects.ts";

/** Keywords that a plain object does not have at its root. */
const NOT_PLAIN = ["$ref", "allOf", "anyOf", "oneOf", "enum", "const"];

/** Returns a schema whose root is a plain object, for vendors that demand one. Arguments of tools are always objects. */
export function lowerRoot(schema: Fields, position: Position): Fields {
  const isPlain = !NOT_PLAIN.some((key) => key in schema);
  if (isPlain && schema["type"] === "object") return schema;
  const { schema: flat } = flattenSchema(schema, position);
  const { anyOf, oneOf, enum: values, const: value, ...own } = flat;
  if (values !== undefined || value !== undefined) {
    loosen(position, "The provider does not support an enumeration of whole argument objects.");
  }
  const unions = [anyOf, oneOf].filter(Array.isArray).map((branches) => {
    loosen(
      position,
      "Alternatives at the root of the schema are sent as one object with all their properties.",
    );
    requireBranches(branches, position.path);
    return unionObjects(branches.map((branch) => readBranch(branch, position)));
  });
  const { schema: merged } = mergeSchemas([own, ...unions]);
  if (!allowsObject(merged["type"])) {
    loosenKeyword(position, "type", "The provider requires arguments to be an object.");
  }
  return { ...merged, type: "object" };
}

function allowsObject(type: unknown): boolean {
  return type === undefined || (Array.isArray(type) ? type : [type]).includes("object");
}

/** Returns a branch flattened; null if no object can match it. */
function readBranch(branch: unknown, position: Position): Fields | null {
  const fields = branch === true ? {} : asFields(branch);
  if (fields === null) return null;
  const { schema } = flattenSchema(fields, position);
  return allowsObject(schema["type"]) ? schema : null;
}
