import { asFields } from "../../base/json/fields.ts";
import { matchPattern } from "../../base/text/match-pattern.ts";
import type { ConfiguredOutput } from "../config/config-schema.ts";
import type { ImportedDeployment, ImportedLimits } from "./deployment.ts";
import type { ImportReport, SourcePath } from "./import-report.ts";
import { describeInfo, describeParameter, OUTPUTS, USUAL_NAMES } from "./litellm-fields.ts";
import { readLitellmPrices } from "./litellm-prices.ts";
import { BARE_MODELS, findProvider, type KnownProvider, LITELLM_PROVIDERS } from "./provider-names.ts";
import type { References } from "./references.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A member of `model_list`. Absent numbers are 0. */
export interface LitellmEntry {
  readonly name: string;
  readonly deployment: ImportedDeployment;
  readonly weight: number;
  readonly order: number;
  readonly rpm: number;
  readonly tpm: number;
}

export interface EntryContext {
  readonly at: SourcePath;
  readonly report: ImportReport;
  readonly references: References;
  /** Values of `credential_list` by name. */
  readonly credentials: ReadonlyMap<string, Fields>;
  /** Whether `rpm` and `tpm` are limits. By default, they are only weights. */
  readonly enforcesRates: boolean;
}

/** The fields of `litellm_params` that are parts of a base URL, with their names there. */
const PARTS: Readonly<Record<string, string>> = {
  api_version: "api_version",
  aws_region_name: "region",
  region_name: "region",
  vertex_project: "project",
  vertex_location: "location",
};

/** The parts that a provider's base URL has. */
const PARTS_OF: Readonly<Record<string, readonly string[]>> = {
  azure: ["api_version"],
  "amazon-bedrock": ["region"],
  "google-vertex": ["project", "location"],
  "google-vertex-anthropic": ["project", "location"],
};

/** Fields that are read elsewhere. */
const READ = new Set([
  "model",
  "api_key",
  "api_base",
  "base_url",
  "base_model",
  "custom_llm_provider",
  "litellm_credential_name",
  "weight",
  "order",
  "rpm",
  "tpm",
  "max_parallel_requests",
  "mode",
]);

/** Parameters that are read from the environment here, by the variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  aws_access_key_id: "AWS_ACCESS_KEY_ID",
  aws_secret_access_key: "AWS_SECRET_ACCESS_KEY",
  aws_session_token: "AWS_SESSION_TOKEN",
  vertex_credentials: "GOOGLE_APPLICATION_CREDENTIALS",
};

/** The path of Ollama's API in OpenAI's format, which LiteLLM does not use. */
const OLLAMA = /^ollama(?:_chat)?$/;

/** Reads a member of `model_list`; null, with an entry in the report, if it cannot be called here. */
export function readLitellmEntry(item: unknown, context: EntryContext): LitellmEntry | null {
  const fields = asFields(item) ?? {};
  const written = asFields(fields["litellm_params"]) ?? {};
  const params: Fields = { ...readCredential(written, context), ...written };
  const info = asFields(fields["model_info"]) ?? {};
  const { model_name: name } = fields;
  const { model } = params;
  const reject = (text: string) => {
    context.report.missing(context.at, { text });
    return null;
  };
  if (typeof name !== "string" || name === "") return reject("It has no model_name.");
  if (typeof model !== "string" || model === "") return reject(`${name} has no litellm_params.model.`);
  if (model.startsWith("os.environ/"))
    return reject(`The model of ${name} is a variable. Write the model itself, and import again.`);
  const { mode = params["mode"] } = info;
  const stated = Object.hasOwn(OUTPUTS, String(mode)) ? OUTPUTS[String(mode)] : undefined;
  if (mode !== undefined && stated === undefined)
    return reject(`${name} has the mode ${String(mode)}, which no endpoint serves here.`);
  const found = splitModel(model, params);
  if (found === null) return reject(`The provider of ${name} is not known: add it under providers.`);
  const output = stated ?? USUAL_NAMES.find(([pattern]) => pattern.test(found.upstream))?.[1] ?? "text";
  if (stated === undefined && output !== "text")
    context.report.differs(context.at, {
      text: `Each model has one endpoint here. By its name, it is taken for one of the kind ${output}.`,
    });
  const number = (value: unknown) => (Number(value) > 0 ? Number(value) : 0);
  const [rpm, tpm] = [number(params["rpm"] ?? fields["rpm"]), number(params["tpm"] ?? fields["tpm"])];
  const limits = readLimits({
    rpm: context.enforcesRates ? rpm : 0,
    tpm: context.enforcesRates ? tpm : 0,
    concurrent: number(params["max_parallel_requests"]),
  });
  const deployment = toDeployment(found, { params, info, context, limits, output });
  const entry = { name, deployment, rpm, tpm };
  reportRates(entry, context);
  return { ...entry, weight: number(params["weight"]), order: number(params["order"]) };
}

function readCredential(written: Fields, { at, report, credentials }: EntryContext): Fields {
  const { litellm_credential_name: name } = written;
  const found = credentials.get(String(name));
  if (name !== undefined && found === undefined)
    report.missing(fieldAt(at, "litellm_credential_name"), {
      text: "credential_list does not have it; those of LiteLLM's database are not imported.",
    });
  return found ?? {};
}

function reportRates(
  { rpm, tpm }: Pick<LitellmEntry, "rpm" | "tpm">,
  { at, report, enforcesRates }: EntryContext,
): void {
  if (enforcesRates || (rpm === 0 && tpm === 0)) return;
  report.onceDiffers(at, {
    text: "rpm and tpm are only weights, as in LiteLLM without enforce_model_rate_limits. limits.models can limit the model.",
  });
}

interface SplitModel {
  readonly provider: KnownProvider;
  readonly providerName: string;
  readonly upstream: string;
}

/** Splits `provider/name`. Names without a provider are recognized by how they begin. */
function splitModel(model: string, params: Fields): SplitModel | null {
  const { custom_llm_provider: named } = params;
  const slash = model.indexOf("/");
  const prefix = slash < 0 ? "" : model.slice(0, slash);
  const hasPrefix = findProvider(LITELLM_PROVIDERS, prefix) !== null;
  const bare = BARE_MODELS.find(([pattern]) => matchPattern(pattern, model))?.[1];
  const providerName = typeof named === "string" ? named : hasPrefix ? prefix : bare;
  if (providerName === undefined) return null;
  const provider = findProvider(LITELLM_PROVIDERS, providerName);
  if (provider === null) return null;
  const upstream =
    prefix === providerName || (named === undefined && hasPrefix) ? model.slice(slash + 1) : model;
  // Models may name the route or the kind of API before their name.
  const bareName = upstream.replace(/^(converse|invoke|responses|chat)\//, "");
  const isClaude =
    provider.kind === "catalog" && provider.slug === "google-vertex" && /^claude/i.test(bareName);
  return {
    provider: isClaude ? { kind: "catalog", slug: "google-vertex-anthropic" } : provider,
    providerName,
    upstream: bareName,
  };
}

interface DeploymentParts {
  readonly params: Fields;
  readonly info: Fields;
  readonly context: EntryContext;
  readonly limits: ImportedLimits;
  readonly output: ConfiguredOutput;
}

function toDeployment(
  found: SplitModel,
  { params, info, context, limits, output }: DeploymentParts,
): ImportedDeployment {
  const { at, references } = context;
  const known = partsOf(found.provider);
  const parts = Object.entries(PARTS).flatMap(([field, part]) => {
    const value = known.includes(part) ? references.read(params[field]) : undefined;
    return value === undefined ? [] : [[part, value]];
  });
  const { prices, read } = readLitellmPrices({ ...info, ...params }, output);
  reportFields({ params, info, read }, found.provider, context);
  const base = params["base_model"] ?? info["base_model"];
  const apiKey = references.read(params["api_key"]);
  if (apiKey?.startsWith("${") === true)
    context.report.differs(fieldAt(at, "api_key"), {
      text: "LiteLLM reads variables only from os.environ/NAME, so the text itself is the key. If a variable is meant, remove one of the two $ in the new file.",
    });
  return {
    at,
    ...found,
    similarTo: typeof base === "string" ? base.replace(/^.*\//, "") : undefined,
    apiKey,
    baseUrl: readBaseUrl(found, params, references),
    parts: Object.fromEntries(parts) as Record<string, string>,
    prices,
    limits,
    output,
    facts: readFacts(info, output),
  };
}

/** LiteLLM calls Ollama's own API below the address, and this gateway the one in OpenAI's format. */
function readBaseUrl(
  { providerName }: SplitModel,
  params: Fields,
  references: References,
): string | undefined {
  const url = references.read(params["api_base"] ?? params["base_url"])?.replace(/\/+$/, "");
  return url !== undefined && OLLAMA.test(providerName) && !url.endsWith("/v1") ? `${url}/v1` : url;
}

/** Reads the facts of a model that the catalog does not have. */
function readFacts(info: Fields, output: ConfiguredOutput): Fields {
  const whole = (value: unknown) =>
    Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : null;
  const context = whole(info["max_input_tokens"]);
  const most = output === "text" ? whole(info["max_output_tokens"]) : null;
  return {
    ...(context === null ? {} : { context_length: context }),
    ...(most === null ? {} : { max_output_tokens: most }),
    ...(info["supports_vision"] === true ? { input: ["text", "image"] } : {}),
  };
}

function partsOf(provider: KnownProvider): readonly string[] {
  return provider.kind === "catalog" ? (PARTS_OF[provider.slug] ?? []) : [];
}

function readLimits(given: {
  readonly rpm: number;
  readonly tpm: number;
  readonly concurrent: number;
}): ImportedLimits {
  const whole = (value: number) => Math.max(1, Math.round(value));
  return {
    ...(given.rpm > 0 ? { requests_per_minute: whole(given.rpm) } : {}),
    ...(given.tpm > 0 ? { tokens_per_minute: whole(given.tpm) } : {}),
    ...(given.concurrent > 0 ? { concurrent: whole(given.concurrent) } : {}),
  };
}

interface EntryFields {
  readonly params: Fields;
  readonly info: Fields;
  /** The names of prices that were read. */
  readonly read: ReadonlySet<string>;
}

/** Reports the fields of an entry that are not taken over. */
function reportFields(
  { params, info, read }: EntryFields,
  provider: KnownProvider,
  { at, report }: EntryContext,
): void {
  const parts = partsOf(provider);
  for (const [name, value] of Object.entries(params)) {
    const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
    const isPart = part !== undefined && parts.includes(part);
    if (READ.has(name) || read.has(name) || isPart || value === null || value === false) continue;
    if (Object.hasOwn(VARIABLES, name)) reportVariable(fieldAt(at, name), value, report);
    else {
      const { outcome, text } = describeParameter(name);
      report[outcome](fieldAt(at, name), { text });
    }
  }
  for (const name of Object.keys(info)) {
    const remark = read.has(name) ? null : describeInfo(name);
    if (remark !== null)
      report[remark.outcome]({ ...at, path: [...at.path, "model_info", name] }, { text: remark.text });
  }
}

/** Reports a credential that this gateway reads from the environment. */
function reportVariable(at: SourcePath, value: unknown, report: ImportReport): void {
  const variable = VARIABLES[String(at.path.at(-1))] as string;
  if (value === `os.environ/${variable}`)
    report.taken(at, { text: `${variable} is read from the environment here, too.` });
  else report.missing(at, { text: `Set ${variable} in the environment. It applies to all models.` });
}

function fieldAt(at: SourcePath, name: string): SourcePath {
  return { file: at.file, path: [...at.path, "litellm_params", name] };
}
