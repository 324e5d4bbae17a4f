import { z } from "zod";
import type { Stored } from "../records/records.ts";

const price = z.string().describe("US dollars per token, as a decimal string.");
const otherPrices = {
  input_cache_read: price.optional(),
  input_cache_write: price.optional(),
  request: z.string().optional().describe("US dollars per request."),
  image: z.string().optional().describe("US dollars per image in the prompt."),
  image_output: price.optional().describe("US dollars per token of generated images."),
  web_search: z.string().optional().describe("US dollars per web search by the vendor."),
  audio: price.optional(),
  audio_output: price.optional(),
  internal_reasoning: price.optional(),
  character: z.string().optional().describe("US dollars per character of a text to speak."),
  audio_second: z.string().optional().describe("US dollars per second of audio to transcribe."),
  generated_image: z
    .string()
    .optional()
    .describe("US dollars per generated image: the highest price of its qualities and sizes."),
};
const prices = { prompt: price, completion: price, ...otherPrices };

export const Pricing = z
  .object({
    ...prices,
    overrides: z
      .array(z.looseObject({ min_prompt_tokens: z.int(), ...prices }))
      .optional()
      .describe("Prices that apply from a prompt length on."),
  })
  .meta({
    id: "Pricing",
    description: "Prices of a model: for each unit the highest price among its providers.",
  });

/** What clients of OpenRouter read, and the catalog does not know. */
export const unknownFact = z.null().describe("Always `null`: OpenRouter's clients read the field.");

/** A model, an auto tier or a named route in the response of `GET /models` (docs/api/models.md). */
export const Model = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int().describe("Creation time in Unix seconds."),
    owned_by: z.string().describe("Author of the model; `gateway` for an auto tier."),
    name: z.string(),
    description: z.string(),
    canonical_slug: z.string(),
    context_length: z
      .int()
      .describe("Context length in tokens, prompt and completion together, that every provider supports."),
    pricing: Pricing,
    architecture: z.object({
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
      modality: z.string().describe("Both kinds of modalities, such as `text+image->text`."),
    }),
    top_provider: z.object({
      context_length: z.int(),
      max_completion_tokens: z.int().nullable(),
      is_moderated: z.boolean(),
    }),
    supported_parameters: z.array(z.string()),
    isFree: z.boolean(),
    is_price_unknown: z
      .literal(true)
      .optional()
      .describe("The operator has given no price for this model: its answers are not charged."),
    expiration_date: z
      .string()
      .nullable()
      .describe("Date on which the model is retired. `null` means none is announced."),
    links: z.object({ details: z.string().describe("Path of the model's endpoints.") }),
    default_parameters: unknownFact,
    per_request_limits: unknownFact,
    supported_voices: unknownFact,
    resolves_to: z
      .array(
        z.object({
          when: z.string().describe("Description of the case."),
          models: z.array(z.string()).describe("Ids of the models in order of preference."),
        }),
      )
      .optional()
      .describe("For an auto tier: the models it currently resolves to, by case."),
    alias_of: z.string().optional().describe("For a named route: the model or auto tier that it leads to."),
  })
  .meta({ id: "Model", description: "A model, an auto tier or a named route." });

export interface PublicModel extends Stored<z.infer<typeof Model>> {}

/** Prices in US dollars per token, request, image, search, character or second, as decimal strings. */
export type PublicPrices = Omit<PublicModel["pricing"], "overrides">;
