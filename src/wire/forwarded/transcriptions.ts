import { fail, rejectField } from "../../base/failures/errors.ts";
import { asFields, type Fields } from "../../base/json/fields.ts";
import { parseField } from "../../base/json/parse-json.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import type { AnswerHead, RelayIdentity, WholeAnswer } from "../canonical/answer/relay.ts";
import { NO_CHARGES } from "../conversation/charges.ts";
import { brokenAnswer } from "../conversation/errors/vendor-error.ts";
import { GATEWAY_FIELDS } from "../conversation/gateway-fields.ts";
import { readRoutingParameters } from "../conversation/preferences.ts";
import { estimateTokens, fitParts, NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";
import { findDuration } from "./audio-duration.ts";
import { EventRelay } from "./event-relay.ts";
import { editForm, type FormBody, readForm, readFormText, requireFormFile } from "./form-body.ts";
import { EVENT_HEADERS, type ForwardedRequest } from "./forwarded-request.ts";
import { readJsonAnswer } from "./json-answer.ts";

/** Audio tokens of a second, as OpenAI counts them. */
const TOKENS_PER_SECOND = 10;
/** Bytes of a second of speech in the usual compression, by which a duration is estimated. */
const USUAL_BYTES_PER_SECOND = 4_000;
/** Bytes of a second of speech, at the least, by which a duration is bounded. */
const LEAST_BYTES_PER_SECOND = 1_000;
/** How much longer than its header says a recording may be for its vendor, which may round up or have a least length. Seconds. */
const SECONDS_ALLOWANCE = 60;
/** The formats of an answer that are JSON. All others are text. */
const JSON_FORMATS: ReadonlySet<string> = new Set(["json", "verbose_json", "diarized_json"]);

/** How long a recording is. Seconds. */
interface Duration {
  readonly about: number;
  readonly most: number;
}

/**
 * Parses a transcription request, a form with a `file`. Its answer is JSON, text, or with `stream` events.
 * @throws GatewayError `unsupported_media_type`; `invalid_request` that names the field and the remedy; `invalid_model` for a malformed
 * model id.
 */
export function decodeTranscription(bytes: Buffer, contentType: string | null): ForwardedRequest {
  const form = readForm(bytes, contentType);
  const duration = measure(requireFormFile(form, "file"));
  const model =
    readFormText(form, "model") ?? rejectField("model", 'is required: a text such as "openai/whisper-1"');
  if (model.length > BOUNDS.modelIdChars) fail("invalid_model", "model is too long to be a model id.");
  const stream = readFormText(form, "stream") === "true";
  const promptTextBytes = Buffer.byteLength(readFormText(form, "prompt") ?? "");
  const isJson = JSON_FORMATS.has(readFormText(form, "response_format") ?? "json");
  const readUsage = (answer: SeenAnswer) => usageOf(answer, duration);
  return {
    ...{ model, stream, promptTextBytes },
    ...readRoutingParameters({
      models: readFormJson(form, "models"),
      provider: readFormJson(form, "provider"),
    }),
    answers: 1,
    maxTokens: null,
    scanned: null,
    formFields: listTexts(form),
    // The body for the provider is a copy.
    heldBytes: bytes.length,
    charges: {
      ...NO_CHARGES,
      // Two bytes are bounded as one token.
      fileBytes: 2 * TOKENS_PER_SECOND * duration.most,
      units: { audioSeconds: duration.most },
    },
    isText: { body: false, answer: isJson || stream },
    encode: (target) => ({
      body: editForm(form, {
        set: ["model", target.model],
        remove: GATEWAY_FIELDS.union(target.storingFields).union(target.costly?.removed ?? new Set()),
      }),
      headers: { "content-type": form.contentType, ...(stream ? EVENT_HEADERS : { accept: "*/*" }) },
      leftOut: [],
    }),
    openRelay: () =>
      new EventRelay({
        last: "transcript.text.done",
        readUsage: (usages) => readUsage({ usage: usages.at(-1), duration: null, textBytes: 0 }),
      }),
    readAnswer: (body, head, identity) =>
      isJson ? readJson(body, identity, readUsage) : readText(body, head, readUsage),
  };
}

/**
 * Returns the texts of a form by name, without files. If a name occurs several times, as in a list, the first text that is not empty is
 * used.
 */
function listTexts({ bytes, parts }: FormBody): Fields {
  const texts = new Map<string, string>();
  for (const { name, isFile, start, end } of parts) {
    const text = isFile ? "" : bytes.toString("utf8", start, Math.min(end, start + BOUNDS.formTextBytes));
    if (!isFile || name !== "file") texts.set(name, texts.get(name) || text);
  }
  return Object.fromEntries(texts);
}

/** Parses a routing field of a form, whose text is JSON. */
function readFormJson(form: FormBody, name: string): unknown {
  const text = readFormText(form, name);
  if (text === null) return undefined;
  try {
    return parseField(text);
  } catch (error) {
    return rejectField(name, `must be JSON: ${error instanceof Error ? error.message : "it cannot be read"}`);
  }
}

function measure(file: Buffer): Duration {
  const found = findDuration(file);
  const bound = Math.ceil(file.length / LEAST_BYTES_PER_SECOND) + SECONDS_ALLOWANCE;
  if (found !== null) return { about: found, most: Math.ceil(found) + SECONDS_ALLOWANCE };
  return { about: file.length / USUAL_BYTES_PER_SECOND, most: bound };
}

/** The facts in an answer about its usage. */
interface SeenAnswer {
  readonly usage: unknown;
  /** The duration that the vendor names, in seconds; null for none. */
  readonly duration: number | null;
  /** Bytes of the transcript; 0 if they are unknown. */
  readonly textBytes: number;
}

type ReadUsage = (answer: SeenAnswer) => TokenUsage;

/** Returns the vendor's tokens and seconds, and estimates of those that it does not count. */
function usageOf(answer: SeenAnswer, duration: Duration): TokenUsage {
  const usage = asFields(answer.usage) ?? {};
  const named = readSeconds(usage, duration) ?? limitDuration(answer.duration, duration);
  const audioSeconds = Math.max(1, Math.round(named ?? duration.about));
  const prompt = readCount(usage["input_tokens"]) ?? readCount(usage["prompt_tokens"]);
  const completion = readCount(usage["output_tokens"]) ?? readCount(usage["completion_tokens"]);
  const promptTokens = prompt ?? audioSeconds * TOKENS_PER_SECOND;
  const ofAudio = asFields(usage["input_token_details"])?.["audio_tokens"];
  return fitParts({
    ...NO_TOKENS,
    promptTokens,
    completionTokens: completion ?? estimateTokens(answer.textBytes),
    audioPromptTokens: readCount(ofAudio) ?? promptTokens,
    units: { audioSeconds },
    estimated: named === null && prompt === null,
  });
}

/** Reads the seconds of OpenAI's usage, and of Mistral's. */
function readSeconds(usage: Fields, duration: Duration): number | null {
  const seconds = usage["seconds"] ?? usage["prompt_audio_seconds"];
  return limitDuration(typeof seconds === "number" ? seconds : null, duration);
}

/** Returns a vendor's duration, unless the file cannot be as long. */
function limitDuration(seconds: number | null, { most }: Duration): number | null {
  return seconds !== null && seconds >= 0 && seconds <= most ? seconds : null;
}

function readJson(body: Buffer, identity: RelayIdentity, readUsage: ReadUsage): WholeAnswer<Buffer> {
  return readJsonAnswer(body, identity, {
    payload: ["text", "segments"],
    readUsage({ read }) {
      const duration = Number(read("duration") ?? Number.NaN);
      const text = read("text");
      return readUsage({
        usage: read("usage"),
        duration: Number.isFinite(duration) ? duration : null,
        textBytes: typeof text === "string" ? Buffer.byteLength(text) : 0,
      });
    },
  });
}

/** Reads a transcript as text, subtitles included, which has no usage. */
function readText(body: Buffer, { contentType }: AnswerHead, readUsage: ReadUsage): WholeAnswer<Buffer> {
  if (/^\s*text\/html\b/i.test(contentType ?? ""))
    return { kind: "error", error: brokenAnswer("the upstream answered with a web page") };
  return {
    kind: "answer",
    isEmpty: false,
    mediaType: contentType ?? "text/plain; charset=utf-8",
    usage: readUsage({ usage: null, duration: null, textBytes: body.length }),
    producedBytes: 0,
    finish: null,
    encode: () => body,
  };
}
