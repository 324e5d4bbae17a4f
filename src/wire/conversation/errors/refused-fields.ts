import { asFields, asList, type Fields } from "../../../base/json/fields.ts";

/**
 * Statuses with which vendors reject a field. 422 is that of hosts that validate with pydantic, such as Mistral and vLLM
 * (github.com/nomtek/mistralai_client_dart/issues/44, 2024).
 */
const STATUSES: ReadonlySet<number> = new Set([400, 422]);

/** Codes beside which `param` names a field that the vendor does not take. github.com/appatalks/eva-agent/issues/83 (2025) */
const CODES: ReadonlySet<unknown> = new Set(["unsupported_parameter", "unknown_parameter"]);

/** Types of pydantic's entries about a field that is not known, of its versions 2 and 1. */
const EXTRA_TYPES: ReadonlySet<unknown> = new Set(["extra_forbidden", "value_error.extra"]);

/**
 * A name with what it is in, such as `generation_config.seed` or `messages[1].name`. It does not begin within another name or path, whose
 * end may be the name of a parameter.
 */
const NAME = String.raw`(?<![\w.$/\]-])[A-Za-z_]\w{0,63}(?:\.\w{1,63}|\[\d{1,6}\]){0,8}`;
const QUOTED_NAME = `['"\`]?(${NAME})['"\`]?`;
const LIST = String.raw`((?:['"\`]?${NAME}['"\`]?,\s?){0,9}['"\`]?${NAME}['"\`]?)`;

/** Messages that name a field which is not taken, whatever its value. Their group is the name, or a list of names. */
const WORDINGS: readonly RegExp[] = [
  // OpenAI, Azure, and hosts of both. github.com/danielmiessler/Fabric/issues/1678, github.com/zed-industries/zed/issues/52000,
  // github.com/quarkiverse/quarkus-langchain4j/issues/285, github.com/diegosouzapw/OmniRoute/issues/1154 (2024 to 2026)
  `(?:unsupported|unknown|unrecognized)(?: request)? (?:parameter|argument)s?(?: supplied)?: ${LIST}`,
  // OpenAI, where only the default is taken: the field, as far as a caller can use it, is not.
  // github.com/gabrii/Cursor-Azure-GPT-5/issues/33 (2025)
  `unsupported value: ${QUOTED_NAME} does not support .{1,40} with this model\\. Only the default`,
  // Groq, Cerebras. github.com/eigent-ai/eigent/issues/1827, github.com/egoist/chatwise-releases/issues/1442 (2026)
  `property ${QUOTED_NAME} is unsupported`,
  // Anthropic, Bedrock. github.com/Wei-Shaw/sub2api/issues/1968, github.com/BerriAI/litellm/issues/13609 (2025, 2026)
  `${QUOTED_NAME}: Extra inputs are not permitted`,
  // Fireworks. github.com/earendil-works/pi/issues/7676 (2026)
  `Extra inputs are not permitted, field: ${QUOTED_NAME}`,
  // Anthropic since Claude Opus 4.7. github.com/altic-dev/FluidVoice/issues/285, github.com/github/app/issues/2574 (2026)
  `${QUOTED_NAME} is deprecated (?:for|in) this model`,
  // xAI. github.com/n8n-io/n8n/issues/14581 (2025), github.com/open-webui/open-webui/issues/21266 (2026)
  `argument not supported(?: on this model)?: ${QUOTED_NAME}`,
  `does not support parameter ${QUOTED_NAME}`,
  // Bedrock. github.com/NousResearch/hermes-agent/issues/111043 (2026)
  `model doesn't support the ${QUOTED_NAME} field`,
  // Google's own and its compatible endpoint. github.com/Vali-98/ChatterUI/issues/227 (2025)
  `unknown name "(${NAME})"(?: at '(?:generation_?config)')?: Cannot find field`,
  // Cohere. github.com/NVIDIA/garak/issues/1202 (2025)
  `unknown field: parameter ${QUOTED_NAME} is not a valid field`,
].map((wording) => new RegExp(wording, "gi"));

/** Any field that Google does not know, also one within others. */
const UNKNOWN_NAMES = /unknown name "/gi;

/** The most fields of one error. A vendor that refuses more refuses something else than single parameters. */
const MAX_FIELDS = 16;
const NONE: readonly string[] = [];

/**
 * Returns the names of the fields for which a vendor rejected a request, as it names them: those that it does not take at all. None if it
 * complains of a value, or of something else besides. `body` is the error's body and `error` its inner object; `message` is truncated.
 */
export function readRefusedFields(
  status: number,
  { body, error, message }: { readonly body: Fields; readonly error: Fields; readonly message: string },
): readonly string[] {
  if (!STATUSES.has(status)) return NONE;
  const names = readEntries(body) ?? readParam(error) ?? readWordings(message);
  return names.length > MAX_FIELDS ? NONE : names;
}

/** Reads pydantic's entries; null if there are none. */
function readEntries(body: Fields): readonly string[] | null {
  const message = asFields(body["message"]);
  for (const list of [body["detail"], body["message"], message?.["detail"]])
    if (Array.isArray(list) && list.length > 0) return readExtras(list);
  return null;
}

function readExtras(entries: readonly unknown[]): readonly string[] {
  const names: string[] = [];
  for (const entry of entries.slice(0, MAX_FIELDS + 1)) {
    const { type, loc } = asFields(entry) ?? {};
    if (!EXTRA_TYPES.has(type)) return NONE;
    names.push(
      asList(loc)
        .filter((part) => part !== "body")
        .join("."),
    );
  }
  return names;
}

function readParam({ code, param }: Fields): readonly string[] | null {
  return CODES.has(code) && typeof param === "string" && param !== "" ? [param] : null;
}

function readWordings(message: string): readonly string[] {
  const names = new Set<string>();
  for (const wording of WORDINGS)
    for (const [, list = ""] of message.matchAll(wording))
      for (const name of list.split(",")) names.add(name.replace(/['"`\s]/g, ""));
  const unknown = message.match(UNKNOWN_NAMES)?.length ?? 0;
  // Google lists all that it does not know. One of them may be within a tool, where it has a meaning.
  return unknown > names.size ? NONE : [...names];
}
