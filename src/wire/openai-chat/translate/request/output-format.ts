import { asFields, asText } from "../../../../base/json/fields.ts";
import { fitStrictAnswer } from "../../../canonical/fit/fit-strict-tools.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { OutputFormat } from "../../../canonical/model/request.ts";

/** Decodes `response_format`; null if it is absent. */
export function decodeOutputFormat(raw: unknown): OutputFormat | null {
  const format = asFields(raw);
  if (format === null) return null;
  if (format["type"] === "text") return { kind: "text" };
  if (format["type"] === "json_object") return { kind: "json" };
  const described = asFields(format["json_schema"]);
  const schema = asFields(described?.["schema"]);
  if (format["type"] !== "json_schema" || described === null || schema === null) {
    return { kind: "native", format: "openai-chat", value: raw };
  }
  return {
    kind: "json-schema",
    name: asText(described["name"]),
    description: asText(described["description"]),
    schema,
    strict: typeof described["strict"] === "boolean" ? described["strict"] : null,
  };
}

/** Encodes `response_format`; null, with a warning, where only another format has it. */
export function encodeOutputFormat(format: OutputFormat, warn: Warn): unknown {
  if (format.kind === "text") return { type: "text" };
  if (format.kind === "json") return { type: "json_object" };
  if (format.kind === "native") {
    if (format.format === "openai-chat") return format.value;
    warn("response_format", `Only the ${format.format} format has this; it was left out.`);
    return null;
  }
  const { name, description, strict } = format;
  const schema = strict === true ? fitStrictAnswer(format.schema, warn) : format.schema;
  const json_schema = {
    name: name ?? "answer",
    ...(description === null ? {} : { description }),
    schema,
    ...(strict === null ? {} : { strict }),
  };
  return { type: "json_schema", json_schema };
}
