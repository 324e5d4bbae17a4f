import { asFields, asText, type Fields, setField } from "../../../../base/json/fields.ts";
import { fitStrictAnswer } from "../../../canonical/fit/fit-strict-tools.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { OutputFormat } from "../../../canonical/model/request.ts";

/** Decodes `text.format`. */
export function decodeOutputFormat(format: Fields): OutputFormat {
  const schema = asFields(format["schema"]);
  if (format["type"] === "text") return { kind: "text" };
  if (format["type"] === "json_object") return { kind: "json" };
  if (format["type"] !== "json_schema" || schema === null) {
    return { kind: "native", format: "openai-responses", value: format };
  }
  return {
    kind: "json-schema",
    name: asText(format["name"]),
    description: asText(format["description"]),
    schema,
    strict: typeof format["strict"] === "boolean" ? format["strict"] : null,
  };
}

/** Returns nulls and unknown fields; the canonical model has the others. */
export function restOfFormat(format: Fields): Fields {
  const rest: Record<string, unknown> = {};
  for (const key in format)
    if (format[key] === null || !FORMAT_FIELDS.has(key)) setField(rest, key, format[key]);
  return rest;
}

const FORMAT_FIELDS = new Set(["type", "name", "description", "schema", "strict"]);

/** Encodes an output format. `rest` are its unknown fields if it came in this format; null if it came in another. */
export function encodeOutputFormat(format: OutputFormat, rest: Fields | null, warn: Warn): Fields | null {
  switch (format.kind) {
    case "text":
      return { ...rest, type: "text" };
    case "json":
      return { ...rest, type: "json_object" };
    case "json-schema": {
      const { name, description, strict } = format;
      const schema = rest === null && strict === true ? fitStrictAnswer(format.schema, warn) : format.schema;
      // This format demands a name for the schema.
      const named = name ?? (rest === null ? "response" : null);
      return {
        ...rest,
        type: "json_schema",
        ...(named === null ? {} : { name: named }),
        ...(description === null ? {} : { description }),
        ...(strict === null ? {} : { strict }),
        schema,
      };
    }
    case "native":
      return format.format === "openai-responses" ? asFields(format.value) : null;
  }
}
