import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { OutputFormat } from "../../../canonical/model/request.ts";
import { lowerSchema } from "../../../json-schema/lower-schema.ts";
import { FORMAT } from "../parts/extras.ts";
import type { FieldTaker } from "../parts/take-fields.ts";

/** Takes `format` of `output_config`. The older `output_format` is read but stays among the other fields. */
export function takeOutputFormat(take: FieldTaker, outputConfig: FieldTaker): OutputFormat | null {
  const format = readFormat(outputConfig.peek("format"));
  if (format === null) return readFormat(take.peek("output_format"));
  const fieldCount = Object.keys(asFields(outputConfig.peek("format")) ?? {}).length;
  if (format.kind === "native" || fieldCount === 2) outputConfig.drop("format");
  return format;
}

function readFormat(value: unknown): OutputFormat | null {
  const raw = asFields(value);
  if (raw === null) return null;
  const schema = asFields(raw["schema"]);
  if (raw["type"] !== "json_schema" || schema === null) return { kind: "native", format: FORMAT, value: raw };
  return { kind: "json-schema", name: null, description: null, schema, strict: null };
}

/** The output format of a request. */
interface EncodedOutputFormat {
  /** `output_config.format`. */
  readonly format: Fields | null;
  /** An instruction for the system prompt, if the API has no field for the format. */
  readonly instruction: string | null;
}

/** Encodes `output_config.format`. `isOwnRequest`: the schema came in this format and is left as it is. */
export function encodeOutputFormat(
  wanted: OutputFormat | null,
  isOwnRequest: boolean,
  warn: Warn,
): EncodedOutputFormat {
  switch (wanted?.kind) {
    case undefined:
    case "text":
      return { format: null, instruction: null };
    case "json-schema": {
      if (isOwnRequest) return { format: { type: "json_schema", schema: wanted.schema }, instruction: null };
      const { schema, loosened } = lowerSchema(wanted.schema, "anthropic-output", "response_format.schema");
      for (const { field, message } of loosened) warn(field, message);
      return { format: { type: "json_schema", schema }, instruction: null };
    }
    case "json":
      warn("response_format", "This model has no JSON mode; it was told to answer in JSON.");
      return { format: null, instruction: "Answer with one JSON object and nothing else." };
    case "native":
      if (wanted.format === FORMAT) return { format: asFields(wanted.value), instruction: null };
      warn("response_format", "This model's provider does not know it; it was left out.");
      return { format: null, instruction: null };
  }
}
