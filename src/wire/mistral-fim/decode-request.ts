import { BOUNDS } from "../../base/bounds.ts";
import { fail } from "../../base/errors.ts";
import {
  parseBody,
  readFlag,
  readNumber,
  readText,
  readWholeNumber,
  refuseField,
  requireText,
} from "../json/check-fields.ts";
import { type Fields, omit } from "../json/fields.ts";

/** A fill-in-the-middle request that has passed the door. */
export interface FimRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number;
  /** The fields for the upstream, but for the model's name. */
  readonly fields: Fields;
  /** Bytes of prompt and suffix. */
  readonly promptTextBytes: number;
  readonly promptChars: number;
  /** What stays the same while the client's user types. */
  readonly promptStart: string;
  /** As it came. */
  readonly sessionId: unknown;
  /** Says that `max_tokens` was lowered; null when it was not. */
  readonly notice: string | null;
}

/** Models of the code-completion provider begin so (docs/contract.md, "FIM"). */
const FIM_PREFIX = "mistralai/";
/** Specification 8. Tokens. */
const MAX_TOKENS = 1_000;
const MAX_TEMPERATURE = 2;
const START_CHARS = 1_024;

/** Fields that speak to the gateway and go no further. */
const GATEWAY_FIELDS: ReadonlySet<string> = new Set(["model", "provider", "session_id", "usage"]);

/**
 * Reads and checks a FIM request (specification 2.6). Unknown fields are kept; `max_tokens` above 1000 is lowered.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model`.
 */
export function decodeFimRequest(bytes: Buffer, rename: (id: string) => string): FimRequest {
  const body = parseBody(bytes);
  const model = rename(requireText(body, "model", 'a string such as "mistralai/codestral-latest"'));
  checkModel(model);
  const prompt = requireText(body, "prompt", "the code before the cursor");
  const suffix = readText(body, "suffix") ?? "";
  readNumber(body, "temperature", 0, MAX_TEMPERATURE);
  readNumber(body, "top_p", 0, 1);
  checkStop(body["stop"]);
  const asked = readWholeNumber(body, "max_tokens", 1);
  const isLowered = asked !== null && asked > MAX_TOKENS;
  return {
    model,
    stream: readFlag(body, "stream"),
    maxTokens: Math.min(asked ?? MAX_TOKENS, MAX_TOKENS),
    fields: { ...omit(body, GATEWAY_FIELDS), ...(isLowered ? { max_tokens: MAX_TOKENS } : {}) },
    promptTextBytes: Buffer.byteLength(prompt) + Buffer.byteLength(suffix),
    promptChars: prompt.length + suffix.length,
    promptStart: prompt.slice(0, START_CHARS),
    sessionId: body["session_id"],
    notice: isLowered ? `max_tokens was lowered from ${asked} to ${MAX_TOKENS}` : null,
  };
}

function checkModel(model: string): void {
  if (model.length > BOUNDS.modelIdChars) fail("invalid_model", "model is too long to be a model id.");
  if (model.toLowerCase().startsWith(FIM_PREFIX)) return;
  fail(
    "invalid_model",
    `Fill-in-the-middle takes models that begin with "${FIM_PREFIX}", such as "mistralai/codestral-latest".`,
    { metadata: { model: model.slice(0, BOUNDS.modelIdChars) } },
  );
}

function checkStop(stop: unknown): void {
  if (stop === undefined || stop === null || typeof stop === "string") return;
  const isList = Array.isArray(stop) && stop.every((one) => typeof one === "string");
  if (!isList) refuseField("stop", "must be a string or an array of strings");
}
