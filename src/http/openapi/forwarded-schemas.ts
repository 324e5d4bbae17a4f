import { z } from "zod";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { describeModelId, GATEWAY_FIELDS } from "./inference-fields.ts";

/*
 * Schemas of the endpoints whose requests and answers are forwarded, for documentation only. Fields that are not listed are
 * forwarded, too.
 */

const object = z.looseObject({});

/** Fields that the gateway adds to the `usage` of an answer. */
const ForwardedUsage = z
  .looseObject({
    cost: z.number().describe("US dollars charged to the account."),
    cost_details: z.looseObject({
      upstream_inference_cost: z.number(),
      upstream_inference_prompt_cost: z.number(),
      upstream_inference_completions_cost: z.number(),
    }),
    is_byok: z.boolean(),
    estimated: z
      .boolean()
      .optional()
      .describe("`true` if the provider reported no usage and the gateway estimated it."),
  })
  .meta({ id: "ForwardedUsage", description: "The provider's usage, with its cost." });

export const ModerationsRequest = z
  .looseObject({
    model: z
      .string()
      .max(BOUNDS.modelIdChars)
      .nullish()
      .meta({
        description: "Id of a moderation model. Default: `openai/omni-moderation-latest`.",
        examples: ["sandbox/moderate:free"],
      }),
    input: z.union([z.string(), z.array(z.union([z.string(), object])).min(1)]).meta({
      description: "A text, a list of texts, or a list of parts of text and images.",
      examples: ["Hello!"],
    }),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "ModerationsRequest" });

export const ModerationsResponse = z
  .looseObject({ id: z.string(), model: z.string(), results: z.array(object), usage: ForwardedUsage })
  .meta({ id: "ModerationsResponse" });

export const RerankRequest = z
  .looseObject({
    model: describeModelId("sandbox/rank:free"),
    query: z.string().meta({
      description: "Text that the documents are compared with.",
      examples: ["What is the capital of France?"],
    }),
    documents: z
      .array(z.union([z.string(), object]))
      .min(1)
      .max(BOUNDS.rerankDocuments)
      .meta({
        description: "Texts to rank.",
        examples: [["Paris is in France.", "Bread is made of flour."]],
      }),
    top_n: z.int().min(1).nullish().describe("Number of documents to return. Default: all."),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "RerankRequest" });

export const RerankResponse = z
  .looseObject({
    results: z
      .array(z.looseObject({ index: z.int(), relevance_score: z.number() }))
      .optional()
      .describe(
        "Documents by relevance. Providers with a format other than Cohere's may name this list `data`.",
      ),
    usage: ForwardedUsage,
  })
  .meta({ id: "RerankResponse" });

const variant = z.string().nullish();

export const ImagesRequest = z
  .looseObject({
    model: describeModelId("sandbox/draw:free"),
    prompt: z.string().meta({ description: "Description of the image.", examples: ["A small boat."] }),
    n: z.int().min(1).max(BOUNDS.answers).nullish().describe("Number of images. Default: 1."),
    size: variant.describe("Width and height in pixels, such as `1024x1024`, or `auto`."),
    quality: variant.describe("Quality in the provider's words, such as `high`."),
    stream: z.boolean().nullish().describe("Stream the response as server-sent events. Default: `false`."),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "ImagesRequest" });

export const ImagesResponse = z
  .looseObject({
    data: z.array(z.looseObject({ b64_json: z.string().optional(), url: z.string().optional() })),
    usage: ForwardedUsage,
  })
  .meta({ id: "ImagesResponse" });

export const SpeechRequest = z
  .looseObject({
    model: describeModelId("sandbox/speak:free"),
    input: z.string().meta({ description: "Text to speak.", examples: ["Hello!"] }),
    voice: z
      .union([z.string(), object])
      .meta({ description: "Voice in the provider's words.", examples: ["alloy"] }),
    instructions: z.string().nullish().describe("How to speak."),
    response_format: variant.describe("Format of the audio, such as `mp3`."),
    stream_format: z.enum(["audio", "sse"]).nullish().describe("`sse` streams events. Default: `audio`."),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "SpeechRequest" });

const jsonText = (about: string) => z.string().optional().describe(`${about} JSON in a text field.`);

export const TranscriptionRequest = z
  .looseObject({
    file: z.string().meta({ description: "Recording, with a filename.", format: "binary" }),
    model: describeModelId("sandbox/transcribe:free"),
    language: z.string().optional().describe("Language of the recording, such as `en`."),
    prompt: z.string().optional().describe("Text in the style of the transcript."),
    response_format: z
      .string()
      .optional()
      .describe(
        "`json` (default), `verbose_json`, `diarized_json`, or the text formats `text`, `srt` and `vtt`.",
      ),
    stream: z.string().optional().describe("`true` streams server-sent events."),
    models: jsonText("Fallback models."),
    provider: jsonText("Which providers may serve the request."),
  })
  .meta({ id: "TranscriptionRequest" });

export const TranscriptionResponse = z
  .looseObject({ text: z.string(), usage: ForwardedUsage })
  .meta({ id: "TranscriptionResponse" });
