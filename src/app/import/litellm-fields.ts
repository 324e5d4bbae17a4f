import type { ConfiguredOutput } from "../config/config-schema.ts";
import { differs, missing, type SettingResult } from "./import-report.ts";
import { isPriceField } from "./litellm-prices.ts";

const PRESET = missing(
  "Requests do not get it by themselves. An account can store a preset with it, which clients name: gateway named-routes set @name.",
);
const REASONING = missing(
  "Requests do not get it by themselves. A tier can set the effort of a model (docs/tiers.md), and a preset of an account, too.",
);
const TIMEOUT = missing("Timers apply to all models: timers.total_ms.");
const RETRIES = missing("Retries apply to all models: limits.repeats.");
const BUDGET = missing(
  "Budgets belong to accounts, keys, members, end users and tags, not to a model at a provider: gateway budgets create.",
);
const ENTRA = missing("Azure is called with API keys only: set api_key.");
const AWS = missing(
  "Amazon Bedrock is called with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK, of the environment.",
);
const OWN_HEADERS = missing(
  "providers.<slug>.headers adds headers to every request to a provider, for all its models.",
);
const MOCK = missing("Nothing is simulated by a model's entry. The sandbox answers tests (docs/sandbox.md).");

/** The fields of `litellm_params` that are not written, and why. */
const PARAMETERS: Readonly<Record<string, SettingResult>> = {
  additional_drop_params: missing("providers.<slug>.models.takes can say that a parameter is not sent."),
  api_version: differs("Only the address of Azure OpenAI has a version."),
  aws_bedrock_runtime_endpoint: missing("Set it as providers.amazon-bedrock.base_url."),
  aws_profile_name: AWS,
  aws_role_name: AWS,
  aws_session_name: AWS,
  aws_web_identity_token: AWS,
  azure_ad_token: ENTRA,
  azure_scope: ENTRA,
  budget_duration: BUDGET,
  cache_control_injection_points: differs(
    "Prompts are marked for the caches of vendors by themselves where that saves money (docs/routing.md#prompt-caches).",
  ),
  client_id: ENTRA,
  client_secret: ENTRA,
  drop_params: differs(
    "Parameters that a provider does not take are always left out, with a warning in the answer.",
  ),
  extra_body: missing("No fields are added to requests. Clients can send them."),
  extra_headers: OWN_HEADERS,
  frequency_penalty: PRESET,
  guardrails: missing(
    "A guardrail names its models: `models` of an entry in `guardrails` (docs/guardrails.md).",
  ),
  headers: OWN_HEADERS,
  max_budget: BUDGET,
  max_completion_tokens: PRESET,
  max_retries: RETRIES,
  max_tokens: PRESET,
  merge_reasoning_content_in_choices: missing(
    "Reasoning is not put into the content: clients read it in fields of their own.",
  ),
  mock_response: MOCK,
  mock_testing_fallbacks: MOCK,
  model_info: differs("It is read beside litellm_params."),
  modify_params: differs("Requests are always fitted to their provider, with a warning in the answer."),
  num_retries: RETRIES,
  organization: missing("Send it for all models of the provider: providers.openai.headers."),
  presence_penalty: PRESET,
  reasoning_effort: REASONING,
  request_timeout: TIMEOUT,
  seed: PRESET,
  stop: PRESET,
  stream: differs("Clients say whether an answer is streamed."),
  stream_timeout: missing("Timers apply to all models: timers.first_token_ms."),
  tags: missing(
    "Tags do not choose a provider here. A tier can choose models by a request header (docs/tiers.md).",
  ),
  temperature: PRESET,
  tenant_id: ENTRA,
  thinking: REASONING,
  timeout: TIMEOUT,
  top_p: PRESET,
  use_in_pass_through: missing("Requests are not passed through to other addresses."),
  use_litellm_proxy: missing("The model is called at its provider."),
  verbosity: REASONING,
};

/** The fields of `model_info` that have an effect in LiteLLM and are not written. All others only describe the model. */
const INFO: Readonly<Record<string, SettingResult>> = {
  access_groups: missing(
    "There are no groups of models. Keys and accounts list what they may use: gateway keys create --models, gateway orgs update --allowed-models.",
  ),
  access_via_team_ids: missing("Accounts list what they may use: gateway orgs update --allowed-models."),
  budget_duration: BUDGET,
  max_budget: BUDGET,
  supported_environments: missing(
    "The model is served in every environment: remove it where it should not be.",
  ),
  team_id: missing("Accounts list what they may use: gateway orgs update --allowed-models."),
  team_public_model_name: missing(
    "An account can have named routes of its own: gateway named-routes set --account.",
  ),
};

/** Returns what becomes of a field of `litellm_params` that is not written. */
export function describeParameter(name: string): SettingResult {
  if (Object.hasOwn(PARAMETERS, name)) return PARAMETERS[name] as SettingResult;
  return isPriceField(name) ? UNREAD_PRICE : missing("The import does not know this parameter.");
}

/** Returns what becomes of a field of `model_info` that is not written; null if it only describes the model. */
export function describeInfo(name: string): SettingResult | null {
  if (Object.hasOwn(INFO, name)) return INFO[name] as SettingResult;
  return isPriceField(name) ? UNREAD_PRICE : null;
}

const UNREAD_PRICE = missing(
  "The import does not read this price. `prices` of a model has all prices that are charged (gateway.example.yaml).",
);

/** What models make, by names that are usual for them. LiteLLM sends any model to any endpoint, and here each has one. */
export const USUAL_NAMES: readonly (readonly [pattern: RegExp, output: ConfiguredOutput])[] = [
  [/rerank/i, "rerank"],
  [/embed|(?:^|[/_-])(?:bge|e5|gte|minilm)[-_]/i, "embedding"],
  [/whisper|transcribe/i, "transcription"],
  [/(?:^|[/_-])tts(?:$|[/_-])/i, "speech"],
  [/dall-e|gpt-image|imagen-|stable-diffusion|(?:^|[/_-])flux[.\d-]/i, "image"],
  [/moderation/i, "moderation"],
];

/** What models make, by `mode` of `model_info`. */
export const OUTPUTS: Readonly<Record<string, ConfiguredOutput>> = {
  chat: "text",
  completion: "text",
  responses: "text",
  embedding: "embedding",
  image_generation: "image",
  audio_speech: "speech",
  audio_transcription: "transcription",
  moderation: "moderation",
  rerank: "rerank",
};
