import { asFields, type Fields } from "../json/fields.ts";
import { flattenSchema } from "./flatten-schema.ts";
import { type Lowering, loosen, type Place, requireBranches } from "./lowering.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import { unionObjects } from "./union-objects.ts";

const NOT_PLAIN = ["$ref", "allOf", "anyOf", "oneOf", "enum", "const"];

/** A schema whose root is a plain object, for vendors that demand one: arguments are nothing else. */
export function lowerRoot(schema: Fields, place: Place, lowering: Lowering): Fields {
  const isPlain = !NOT_PLAIN.some((key) => key in schema);
  if (isPlain && schema["type"] === "object") return schema;
  const { schema: flat } = flattenSchema(schema, place, lowering);
  const { anyOf, oneOf, enum: values, const: value, ...own } = flat;
  if (values !== undefined || value !== undefined) {
    loosen(lowering, place.path, "Arguments as a whole cannot be one of some values for the provider.");
  }
  const unions = [anyOf, oneOf].filter(Array.isArray).map((branches) => {
    loosen(
      lowering,
      place.path,
      "Alternatives at the schema's root are sent as one object with all their properties.",
    );
    requireBranches(branches, place.path);
    return unionObjects(branches.map((branch) => readBranch(branch, place, lowering)));
  });
  const { schema: merged } = mergeSchemas([own, ...unions]);
  if (!allowsObject(merged["type"])) {
    loosen(lowering, `${place.path}.type`, "Arguments are an object for the provider.");
  }
  return { ...merged, type: "object" };
}

function allowsObject(type: unknown): boolean {
  return type === undefined || (Array.isArray(type) ? type : [type]).includes("object");
}

/** A branch that an object may be; null where it cannot. */
function readBranch(branch: unknown, place: Place, lowering: Lowering): Fields | null {
  const fields = branch === true ? {} : asFields(branch);
  if (fields === null) return null;
  const { schema } = flattenSchema(fields, place, lowering);
  return allowsObject(schema["type"]) ? schema : null;
}
