import { rejectField } from "../../base/failures/errors.ts";
import { readText, requireText } from "../../base/json/check-fields.ts";
import { asFields } from "../../base/json/fields.ts";
import { NO_CHARGES } from "../conversation/charges.ts";
import { estimateTokens, fitParts, NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";
import { AudioRelay } from "./audio-relay.ts";
import { EventRelay } from "./event-relay.ts";
import { EVENT_HEADERS, type ForwardedRequest, JSON_EXCHANGE } from "./forwarded-request.ts";
import { encodeJsonBody, readJsonBody } from "./json-body.ts";

/** Audio tokens of a second of speech: OpenAI's price of a minute divided by its price of a token. */
const TOKENS_PER_SECOND = 1_250 / 60;
/** Characters that are spoken in a second, for audio whose duration is unknown. */
const CHARS_PER_SECOND = 16;
/** Maximum audio tokens per character, for holds: speech at a third of the usual speed. */
const MAX_TOKENS_PER_CHAR = 4;
const LEAST_TOKENS = 256;

/**
 * Parses a speech request: `input` is the text. Its answer is audio, or with `stream_format: "sse"` events with audio.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function decodeSpeech(bytes: Buffer): ForwardedRequest {
  const body = readJsonBody(bytes, { example: "openai/gpt-4o-mini-tts", usual: null });
  const { fields, model, fallbackModels, preferences, preset } = body;
  const input = requireText(fields, "input", "the text to speak");
  const instructions = readText(fields, "instructions") ?? "";
  const characters = countCharacters(input);
  const promptTextBytes = Buffer.byteLength(input) + Buffer.byteLength(instructions);
  const isEvents = readStreamFormat(fields["stream_format"]);
  const estimate = (seconds: number | null): TokenUsage => ({
    ...NO_TOKENS,
    promptTokens: estimateTokens(promptTextBytes),
    ...audioTokens(seconds ?? characters / CHARS_PER_SECOND),
    units: { characters },
    estimated: true,
  });
  return {
    ...JSON_EXCHANGE,
    ...{ model, fallbackModels, preferences, preset, promptTextBytes },
    stream: true,
    maxTokens: Math.max(LEAST_TOKENS, MAX_TOKENS_PER_CHAR * characters),
    isText: { body: true, answer: isEvents },
    scanned: body,
    heldBytes: 3 * bytes.length,
    charges: { ...NO_CHARGES, units: { characters } },
    encode: (target) => ({
      ...encodeJsonBody(body, target),
      headers: isEvents ? EVENT_HEADERS : { accept: "audio/*, application/octet-stream" },
    }),
    openRelay: ({ contentType }) =>
      isEvents
        ? new EventRelay({
            last: "speech.audio.done",
            readUsage: (usages) => readTokens(usages.at(-1), characters) ?? estimate(null),
          })
        : new AudioRelay(contentType, estimate),
    readAnswer() {
      throw new Error("speech is streamed");
    },
  };
}

/** Returns whether the answer is a stream of events. */
function readStreamFormat(value: unknown): boolean {
  if (value === undefined || value === null || value === "audio") return false;
  return value === "sse" || rejectField("stream_format", 'must be "audio" or "sse"');
}

/** Counts Unicode code points. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function audioTokens(seconds: number): Pick<TokenUsage, "completionTokens" | "audioCompletionTokens"> {
  const tokens = Math.max(1, Math.round(seconds * TOKENS_PER_SECOND));
  return { completionTokens: tokens, audioCompletionTokens: tokens };
}

function readTokens(value: unknown, characters: number): TokenUsage | null {
  const usage = asFields(value) ?? {};
  const promptTokens = readCount(usage["input_tokens"]);
  const completionTokens = readCount(usage["output_tokens"]);
  if (promptTokens === null || completionTokens === null) return null;
  const audioCompletionTokens = completionTokens;
  return fitParts({
    ...NO_TOKENS,
    ...{ promptTokens, completionTokens, audioCompletionTokens },
    units: { characters },
  });
}
