/** What the form of a preset contains besides its models and its text. The API checks the values. */
import type { Schema } from "../../parts/schema/schema.ts";

const number = (minimum: number, maximum: number): Schema => ({ type: "number", minimum, maximum });
const names: Schema = { type: "array", items: { type: "string" } };
const flag: Schema = { type: "boolean" };
const price: Schema = { type: "number", minimum: 0 };
const choice = (...values: readonly string[]): Schema => ({ type: "string", enum: values });

export const PARAMETERS: Schema = {
  type: "object",
  properties: {
    temperature: number(0, 2),
    top_p: number(0, 1),
    max_tokens: { type: "integer", minimum: 1 },
    seed: { type: "integer" },
    frequency_penalty: number(-2, 2),
    presence_penalty: number(-2, 2),
    reasoning_effort: choice("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    stop: names,
  },
};

export const PREFERENCES: Schema = {
  type: "object",
  properties: {
    sort: choice("price", "throughput", "latency"),
    data_collection: choice("allow", "deny"),
    prompt_caching: choice("auto", "off"),
    zdr: flag,
    own_keys_only: flag,
    require_parameters: flag,
    allow_fallbacks: flag,
    order: names,
    only: names,
    ignore: names,
    max_price: {
      type: "object",
      properties: { prompt: price, completion: price, request: price, image: price },
    },
  },
};
