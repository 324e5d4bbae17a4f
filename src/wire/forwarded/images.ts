import { readFlag, readText, readWholeNumber, requireText } from "../../base/json/check-fields.ts";
import { asFields, type Fields } from "../../base/json/fields.ts";
import { requireAtMost } from "../../base/json/reject-excess.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { NO_CHARGES } from "../conversation/charges.ts";
import {
  estimateTokens,
  fitParts,
  NO_TOKENS,
  readCount,
  type TokenUsage,
  type UnitCounts,
} from "../conversation/usage.ts";
import { EventRelay } from "./event-relay.ts";
import { EVENT_HEADERS, type ForwardedRequest, JSON_EXCHANGE } from "./forwarded-request.ts";
import { readJsonAnswer } from "./json-answer.ts";
import { encodeJsonBody, readJsonBody } from "./json-body.ts";

/** The size and quality of an image, if the request names them. `auto` leaves them to the vendor. */
type Variant = Pick<UnitCounts, "imageQuality" | "imageSize">;

/** Tokens of an image of 1024x1024 by quality, as OpenAI states them, for vendors that count none. */
const TOKENS: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const USUAL_TOKENS = 1_056;

/**
 * Parses an image generation request: `prompt`, and `n`, `size` and `quality`, by which vendors charge.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function decodeImages(bytes: Buffer): ForwardedRequest {
  const body = readJsonBody(bytes, { example: "openai/gpt-image-2", usual: null });
  const { fields, model, fallbackModels, preferences, preset } = body;
  const promptTextBytes = Buffer.byteLength(requireText(fields, "prompt", "a description of the image"));
  const answers = readWholeNumber(fields, "n", 1) ?? 1;
  requireAtMost("n", answers, { what: "images", bound: BOUNDS.answers, remedy: "Send several requests." });
  const stream = readFlag(fields, "stream");
  const asked = readVariant(readText(fields, "size"), readText(fields, "quality"));
  return {
    ...JSON_EXCHANGE,
    ...{ model, fallbackModels, preferences, preset, promptTextBytes, answers, stream },
    maxTokens: null,
    scanned: body,
    heldBytes: 3 * bytes.length,
    charges: { ...NO_CHARGES, units: { generatedImages: answers, ...asked } },
    encode: (target) => ({ ...encodeJsonBody(body, target), ...(stream ? { headers: EVENT_HEADERS } : {}) }),
    openRelay: () =>
      new EventRelay({
        last: "image_generation.completed",
        expected: answers,
        readUsage: (usages) => sumUsage(usages, { promptTextBytes, asked }),
      }),
    readAnswer: (answer, _head, identity) =>
      readJsonAnswer(answer, identity, {
        payload: ["data"],
        readUsage: ({ read, count }) => {
          const given = readVariant(read("size"), read("quality"));
          return readUsage(read("usage"), { generatedImages: count, ...asked, ...given }, promptTextBytes);
        },
      }),
  };
}

/** Reads size and quality; the vendor's choice counts as absent. */
function readVariant(size: unknown, quality: unknown): Variant {
  const isNamed = (value: unknown): value is string =>
    typeof value === "string" && value !== "auto" && value.length <= VARIANT_CHARS;
  return {
    ...(isNamed(size) ? { imageSize: size } : {}),
    ...(isNamed(quality) ? { imageQuality: quality } : {}),
  };
}

const VARIANT_CHARS = 32;

/** Returns the vendor's tokens, or an estimate, with the images. */
function readUsage(value: unknown, units: UnitCounts, promptTextBytes: number): TokenUsage {
  const usage = asFields(value) ?? {};
  const promptTokens = readCount(usage["input_tokens"]);
  const completionTokens = readCount(usage["output_tokens"]);
  if (promptTokens === null || completionTokens === null) {
    const each = TOKENS[units.imageQuality ?? ""] ?? USUAL_TOKENS;
    const tokens = each * (units.generatedImages ?? 0);
    return withTokens({
      prompt: estimateTokens(promptTextBytes),
      completion: tokens,
      units,
      estimated: true,
    });
  }
  const details = asFields(usage["output_tokens_details"]) ?? {};
  const cached = asFields(usage["input_tokens_details"])?.["cached_tokens"];
  return fitParts({
    ...withTokens({ prompt: promptTokens, completion: completionTokens, units, estimated: false }),
    cachedTokens: readCount(cached) ?? 0,
    imageCompletionTokens: readCount(details["image_tokens"]) ?? completionTokens,
  });
}

interface Tokens {
  readonly prompt: number;
  readonly completion: number;
  readonly units: UnitCounts;
  readonly estimated: boolean;
}

function withTokens({ prompt, completion, units, estimated }: Tokens): TokenUsage {
  return {
    ...NO_TOKENS,
    promptTokens: prompt,
    completionTokens: completion,
    imageCompletionTokens: completion,
    units,
    estimated,
  };
}

/** Sums the usages of the images of a stream. */
function sumUsage(
  usages: readonly unknown[],
  { promptTextBytes, asked }: { readonly promptTextBytes: number; readonly asked: Variant },
): TokenUsage {
  const units: UnitCounts = { generatedImages: usages.length, ...asked };
  const found = usages.map((usage) => asFields(usage)).filter((usage): usage is Fields => usage !== null);
  if (found.length < usages.length || usages.length === 0) return readUsage(null, units, promptTextBytes);
  const sum = (name: string) =>
    found.reduce<number | null>((total, usage) => {
      const count = readCount(usage[name]);
      return total === null || count === null ? null : total + count;
    }, 0);
  return readUsage(
    { input_tokens: sum("input_tokens"), output_tokens: sum("output_tokens") },
    units,
    promptTextBytes,
  );
}
