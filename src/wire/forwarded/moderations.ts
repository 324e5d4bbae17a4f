import { rejectField } from "../../base/failures/errors.ts";
import { asFields } from "../../base/json/fields.ts";
import { NO_CHARGES } from "../conversation/charges.ts";
import { estimateTokens, NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";
import { type ForwardedRequest, JSON_EXCHANGE } from "./forwarded-request.ts";
import { readJsonAnswer, type ScannedAnswer } from "./json-answer.ts";
import { encodeJsonBody, readJsonBody } from "./json-body.ts";

/** The model of a request without `model`: OpenAI's default. */
const USUAL_MODEL = "openai/omni-moderation-latest";

/**
 * Parses a moderations request: `input` is a text, a list of texts, or a list of parts of text and images.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function decodeModerations(bytes: Buffer): ForwardedRequest {
  const body = readJsonBody(bytes, { example: USUAL_MODEL, usual: USUAL_MODEL });
  const promptTextBytes = measureInput(body.fields["input"]);
  const { model, fallbackModels, preferences, preset } = body;
  return {
    ...JSON_EXCHANGE,
    ...{ model, fallbackModels, preferences, preset, promptTextBytes },
    scanned: body,
    heldBytes: 3 * bytes.length,
    charges: NO_CHARGES,
    encode: (target) => encodeJsonBody(body, target),
    readAnswer: (answer, _head, identity) =>
      readJsonAnswer(answer, identity, {
        payload: ["results"],
        readUsage: (scanned) => readPromptUsage(scanned, promptTextBytes),
      }),
  };
}

/** Returns the bytes of the texts of an input. */
function measureInput(input: unknown): number {
  if (typeof input === "string") return Buffer.byteLength(input);
  if (!Array.isArray(input) || input.length === 0)
    return rejectField(
      "input",
      "is required: a text, a list of texts, or a list of parts of text and images",
    );
  const texts = input.map((part: unknown) => (typeof part === "string" ? part : asFields(part)?.["text"]));
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === "string" ? Buffer.byteLength(text) : 0),
    0,
  );
}

/**
 * Returns the usage of an answer that has only a prompt: the vendor's `usage`, or an estimate. Some vendors count only
 * `total_tokens`.
 */
export function readPromptUsage({ read }: ScannedAnswer, promptTextBytes: number): TokenUsage {
  const usage = asFields(read("usage")) ?? {};
  const promptTokens = readCount(usage["prompt_tokens"]) || readCount(usage["total_tokens"]);
  return promptTokens
    ? { ...NO_TOKENS, promptTokens }
    : { ...NO_TOKENS, promptTokens: estimateTokens(promptTextBytes), estimated: true };
}
