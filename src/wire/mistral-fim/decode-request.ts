import { fail, rejectField } from "../../base/failures/errors.ts";
import {
  parseBody,
  readFlag,
  readNumber,
  readText,
  readWholeNumber,
  requireText,
} from "../../base/json/check-fields.ts";
import { type Fields, omit } from "../../base/json/fields.ts";
import { requireBodyBytes } from "../../base/json/reject-excess.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { GATEWAY_FIELDS } from "../conversation/gateway-fields.ts";
import { type RoutingParameters, readRoutingParameters } from "../conversation/preferences.ts";
import { USER_FIELDS } from "../conversation/user-fields.ts";

/** A fill-in-the-middle request that was checked. */
export interface FimRequest extends RoutingParameters {
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number;
  /** The fields for the upstream except the model's name. `max_tokens` is always present. */
  readonly fields: Fields;
  /** The parameters that the client set, in the terms of `supported_parameters`. */
  readonly parameters: readonly string[];
  /** Bytes of prompt and suffix. */
  readonly promptTextBytes: number;
  readonly promptChars: number;
  /** The part of the request that stays the same while the user types. */
  readonly promptStart: string;
  /** As they came. */
  readonly sessionId: unknown;
  readonly tags: unknown;
  /** The notice that `max_tokens` was lowered; null if it was not. */
  readonly notice: string | null;
}

/** The fields of this format, for hosts that reject others (https://docs.mistral.ai/api, types of @mistralai/mistralai 2.7.0, 2026-11-28). */
export const FIM_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "suffix",
  "temperature",
  "top_p",
  "max_tokens",
  "min_tokens",
  "stop",
  "random_seed",
  "stream",
  "metadata",
  "prompt_cache_key",
]);

/** The maximum of `max_tokens`. */
const MAX_TOKENS = 1_000;
const MAX_TEMPERATURE = 2;
const START_CHARS = 1_024;

/** Fields that are not copied to the upstream. */
const NOT_SENT: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, "model"]);

/** Fields that are not model parameters. */
const NO_PARAMETERS: ReadonlySet<string> = new Set([
  ...NOT_SENT,
  ...USER_FIELDS,
  "prompt",
  "suffix",
  "stream",
  "prompt_cache_key",
  "metadata",
]);

/**
 * Parses and checks a FIM request. Unknown fields are kept; `max_tokens` above 1000 is lowered, and a missing one is set to 1000.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model`.
 */
export function decodeFimRequest(bytes: Buffer, rename: (id: string) => string): FimRequest {
  requireBodyBytes(bytes, BOUNDS.fimBodyBytes, "Send less of the code around the cursor.");
  const body = parseBody(bytes);
  const model = rename(requireText(body, "model", 'a string such as "mistralai/codestral-latest"'));
  checkModel(model, "model");
  const routing = readRoutingParameters({
    models: body["models"],
    provider: body["provider"],
    preset: body["preset"],
  });
  const fallbackModels = routing.fallbackModels.map(rename);
  for (const [at, fallback] of fallbackModels.entries()) checkModel(fallback, `models[${at}]`);
  const prompt = requireText(body, "prompt", "the code before the cursor");
  const suffix = readText(body, "suffix") ?? "";
  readNumber(body, "temperature", [0, MAX_TEMPERATURE]);
  readNumber(body, "top_p", [0, 1]);
  checkStop(body["stop"]);
  const asked = readWholeNumber(body, "max_tokens", 1);
  const isLowered = asked !== null && asked > MAX_TOKENS;
  // Without a limit in the request some vendors generate up to the end of the context window.
  const maxTokens = Math.min(asked ?? MAX_TOKENS, MAX_TOKENS);
  return {
    model,
    fallbackModels,
    preferences: routing.preferences,
    preset: routing.preset,
    stream: readFlag(body, "stream"),
    maxTokens,
    fields: { ...omit(body, NOT_SENT), max_tokens: maxTokens },
    parameters: listParameters(body),
    promptTextBytes: Buffer.byteLength(prompt) + Buffer.byteLength(suffix),
    promptChars: prompt.length + suffix.length,
    promptStart: prompt.slice(0, START_CHARS),
    sessionId: body["session_id"],
    tags: body["tags"],
    notice: isLowered ? `max_tokens was lowered from ${asked} to ${MAX_TOKENS}` : null,
  };
}

function listParameters(body: Fields): readonly string[] {
  return Object.entries(body)
    .filter(([field, value]) => value !== null && !NO_PARAMETERS.has(field))
    .map(([field]) => (field === "random_seed" ? "seed" : field));
}

/** `field` is the name of the model's field. */
function checkModel(model: string, field: string): void {
  if (model.length > BOUNDS.modelIdChars)
    fail("invalid_model", `${field} is too long to be a model id.`, { metadata: { field } });
}

function checkStop(stop: unknown): void {
  if (stop === undefined || stop === null || typeof stop === "string") return;
  const isList = Array.isArray(stop) && stop.every((one) => typeof one === "string");
  if (!isList) rejectField("stop", "must be a string or an array of strings");
}
