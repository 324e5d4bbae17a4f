import { isDeepStrictEqual } from "node:util";
import { asFields, assignFields, asText, type Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { ModelTarget } from "../../../canonical/model/format.ts";
import { readCacheMark } from "../../../canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type ToolChoice,
} from "../../../canonical/model/request.ts";
import { OPENAI_SERVICE_TIERS } from "../../../canonical/model/service-tiers.ts";
import { keptSpelling } from "../parts/extras.ts";
import { decodeToolChoice } from "./decode-tools.ts";
import { encodeToolChoice, hasTools } from "./encode-tools.ts";
import { decodeOutputFormat, encodeOutputFormat } from "./output-format.ts";
import {
  decodeReasoningParameters,
  encodeReasoningParameters,
  needsRespelling,
} from "./reasoning-parameters.ts";

/** Request fields that belong to one setting of the canonical model, and how they are decoded and encoded. */
interface Setting {
  readonly names: readonly string[];
  /** Decodes the fields into all canonical fields of the setting, set or not. */
  read(raw: Fields): Partial<ConversationRequest>;
  /** Encodes the setting of a request that came in another format. */
  write(request: Request, target: ModelTarget, warn: Warn): Fields;
  /**
   * Returns whether `write` certainly reproduces the fields of a body from the result of `read`, so that no spelling needs to be kept. If
   * absent, both are compared.
   */
  isUsual?(body: Fields): boolean;
  /** Whether a target accepts the fields as a client of this format spelled them. Absent: every target does. */
  isTaken?(raw: Fields, target: ModelTarget): boolean;
}

type Request = Omit<ConversationRequest, "messages">;
type Key = keyof Request;

const UNKNOWN_TARGET: ModelTarget = { name: "", maxOutputTokens: null, reasoning: null };

/** Decodes the settings of a body, and keeps the spelling of those that would be encoded differently. */
export function readSettings(body: Fields): { readonly settings: Request; readonly spelling: Fields } {
  const settings: Request = { ...EMPTY_REQUEST };
  const spelling: Record<string, unknown> = {};
  for (const setting of SETTINGS) {
    if (!hasAny(body, setting.names)) continue;
    if (setting.isUsual?.(body) === true) {
      assignFields(settings, setting.read(body));
      continue;
    }
    const raw = pick(body, setting.names);
    const read = setting.read(raw);
    assignFields(settings, read);
    const written = setting.write({ ...EMPTY_REQUEST, ...read }, UNKNOWN_TARGET, () => {});
    if (!isDeepStrictEqual(written, raw)) assignFields(spelling, raw);
  }
  return { settings, spelling };
}

/** Encodes a request's settings, as the client of this format spelled them if they still mean the same. */
export function writeSettings(request: ConversationRequest, target: ModelTarget, warn: Warn): Fields {
  const spelling = keptSpelling(request);
  const fields: Record<string, unknown> = {};
  for (const setting of SETTINGS) {
    const raw = pick(spelling, setting.names);
    const isSpelled =
      Object.keys(raw).length > 0 &&
      setting.isTaken?.(raw, target) !== false &&
      meansTheSame(setting.read(raw), request);
    assignFields(fields, isSpelled ? raw : setting.write(request, target, warn));
  }
  return fields;
}

function meansTheSame(read: Partial<ConversationRequest>, request: ConversationRequest): boolean {
  return Object.entries(read).every(([key, value]) => isDeepStrictEqual(value, request[key as Key]));
}

function hasAny(body: Fields, names: readonly string[]): boolean {
  for (const name of names) if (name in body) return true;
  return false;
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.filter((name) => name in fields).map((name) => [name, fields[name]]));
}

const asNumber = (value: unknown) => (typeof value === "number" ? value : null);
const asBoolean = (value: unknown) => (typeof value === "boolean" ? value : null);

/** A setting that is one field here and one field in the canonical model. */
function sameSetting(name: string, key: Key, read: (value: unknown) => unknown): Setting {
  return {
    names: [name],
    read: (raw) => ({ [key]: read(raw[name]) }),
    write: (request) => (request[key] === null || request[key] === undefined ? {} : { [name]: request[key] }),
    isUsual: (body) => body[name] !== null && read(body[name]) === body[name],
  };
}

/**
 * Returns a setting that only some vendors know, or that hosts reject without another one. It is kept for clients of this format, and
 * omitted with a warning for others.
 */
function unsupportedSetting(name: string, key: Key, read: (value: unknown) => unknown): Setting {
  return {
    names: [name],
    read: (raw) => ({ [key]: read(raw[name]) }),
    write: (request, _, warn) => {
      if (request[key] !== null && request[key] !== undefined) warn(name, NOT_IN_FORMAT);
      return {};
    },
  };
}

const NOT_IN_FORMAT =
  "This is not part of the chat format, or not all hosts of the format know it; it was left out.";

const SETTINGS: readonly Setting[] = [
  {
    names: ["max_tokens", "max_completion_tokens"],
    read: (raw) => ({ maxTokens: asNumber(raw["max_completion_tokens"]) ?? asNumber(raw["max_tokens"]) }),
    // The spelling that more hosts know; a quirk renames it for the others.
    write: ({ maxTokens }) => (maxTokens === null ? {} : { max_tokens: maxTokens }),
    isUsual: (body) => typeof body["max_tokens"] === "number" && !("max_completion_tokens" in body),
  },
  sameSetting("temperature", "temperature", asNumber),
  sameSetting("top_p", "topP", asNumber),
  unsupportedSetting("top_k", "topK", asNumber),
  sameSetting("frequency_penalty", "frequencyPenalty", asNumber),
  sameSetting("presence_penalty", "presencePenalty", asNumber),
  sameSetting("seed", "seed", asNumber),
  sameSetting("n", "n", asNumber),
  sameSetting("logit_bias", "logitBias", asFields),
  sameSetting("user", "user", asText),
  sameSetting("verbosity", "verbosity", asText),
  sameSetting("prompt_cache_key", "promptCacheKey", asText),
  // OpenAI accepts it only for responses that it stores.
  unsupportedSetting("metadata", "metadata", asFields),
  {
    names: ["cache_control"],
    read: (raw) => {
      const cache = readCacheMark(raw["cache_control"]);
      return cache === undefined ? {} : { cache };
    },
    // Only a hint, so it is dropped without a warning.
    write: () => ({}),
  },
  {
    names: ["service_tier"],
    read: (raw) => ({ serviceTier: asText(raw["service_tier"]) }),
    write: ({ serviceTier }, _, warn) => {
      if (serviceTier === null) return {};
      const tier = OPENAI_SERVICE_TIERS[serviceTier];
      if (tier !== undefined) return { service_tier: tier };
      warn("service_tier", `"${serviceTier}" is no tier of the chat format; it was left out.`);
      return {};
    },
  },
  {
    names: ["stop"],
    read: ({ stop }) => ({
      stop: (Array.isArray(stop) ? stop : [stop]).filter((word) => typeof word === "string"),
    }),
    write: ({ stop }) => (stop.length === 0 ? {} : { stop }),
  },
  {
    names: ["logprobs", "top_logprobs"],
    read: (raw) => {
      const top = asNumber(raw["top_logprobs"]);
      return { logprobs: raw["logprobs"] === true || top !== null ? { top } : null };
    },
    write: ({ logprobs }) => {
      if (logprobs === null) return {};
      return { logprobs: true, ...(logprobs.top === null ? {} : { top_logprobs: logprobs.top }) };
    },
  },
  {
    names: ["reasoning", "reasoning_effort"],
    read: decodeReasoningParameters,
    write: encodeReasoningParameters,
    isTaken: (raw, target) => !needsRespelling(raw, target),
  },
  {
    names: ["response_format"],
    read: (raw) => ({ outputFormat: decodeOutputFormat(raw["response_format"]) }),
    write: ({ outputFormat }, _, warn) => {
      const format = outputFormat === null ? null : encodeOutputFormat(outputFormat, warn);
      return format === null ? {} : { response_format: format };
    },
  },
  {
    names: ["tool_choice"],
    read: (raw) => ({ toolChoice: decodeToolChoice(raw["tool_choice"]) }),
    write: ({ toolChoice, tools }, _, warn) => {
      const choice: unknown =
        toolChoice === null ? null : encodeToolChoice(toolChoice as ToolChoice, tools, warn);
      return choice === null ? {} : { tool_choice: choice };
    },
  },
  {
    names: ["parallel_tool_calls"],
    read: (raw) => ({ parallelToolCalls: asBoolean(raw["parallel_tool_calls"]) }),
    // OpenAI rejects it without tools.
    write: ({ parallelToolCalls, tools }) =>
      parallelToolCalls === null || !hasTools(tools) ? {} : { parallel_tool_calls: parallelToolCalls },
  },
  {
    names: ["stream"],
    read: (raw) => ({ stream: raw["stream"] === true }),
    write: ({ stream }) => (stream ? { stream } : {}),
    isUsual: ({ stream }) => stream === true,
  },
];

/** The request fields that `readSettings` reads. */
export const SETTING_FIELDS: readonly string[] = SETTINGS.flatMap((setting) => setting.names);
