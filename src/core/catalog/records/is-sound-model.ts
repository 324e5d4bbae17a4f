import { compileCheck } from "./compile-check.ts";
import { modelSchema } from "./model-schema.ts";
import type { ModelEndpoint, ModelRecord } from "./records.ts";

/** Compiled when it is first needed: a start with the shipped catalog needs none. */
let isModel: ((value: unknown) => boolean) | null = null;

/** Whether a value from a catalog file is a valid model. If it is not, the schema names the problem. */
export function isSoundModel(value: unknown): value is Partial<ModelRecord> {
  isModel ??= compileCheck(modelSchema);
  return isModel(value);
}

/** Adds the nulls that files omit to a valid model. */
export function completeModel(model: Partial<ModelRecord>): ModelRecord {
  const { description = null, released = null, tokenizer = null, expires = null, endpoints = [] } = model;
  const complete = {
    ...model,
    description,
    released,
    tokenizer,
    expires,
    endpoints: endpoints.map(completeEndpoint),
  };
  return complete as ModelRecord;
}

function completeEndpoint(endpoint: ModelEndpoint): ModelEndpoint {
  return endpoint.maxOutputTokens === undefined
    ? { ...(endpoint as ModelEndpoint), maxOutputTokens: null }
    : endpoint;
}
