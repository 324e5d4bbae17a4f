import type { Fields } from "../../../base/json/fields.ts";
import { lowerSchema, SchemaLowerer } from "../../json-schema/lower-schema.ts";
import type { Tool } from "../model/request.ts";
import type { Warn } from "./warn.ts";

/** Lowers the schemas of a request's strict tools to what OpenAI's strict mode accepts. */
export class StrictToolFitter {
  private readonly schemas = new SchemaLowerer();

  constructor(private readonly warn: Warn) {}

  /** Returns a tool with the lowered schema; the tool itself if it is not strict. `field` names it in warnings. */
  fit<T extends Tool>(tool: T, field: string): T {
    if (tool.kind !== "function" || tool.strict !== true || tool.parameters === null) return tool;
    const lowered = this.schemas.lower(tool.parameters, "openai-strict", `${field}.parameters`);
    for (const { field: place, message } of lowered.loosened) this.warn(place, message);
    return { ...tool, parameters: lowered.schema };
  }
}

/** Returns the schema of a strict answer lowered to what OpenAI's strict mode accepts. */
export function fitStrictAnswer(schema: Fields, warn: Warn): Fields {
  const lowered = lowerSchema(schema, "openai-strict", "response_format.schema");
  for (const { field, message } of lowered.loosened) warn(field, message);
  return lowered.schema;
}
