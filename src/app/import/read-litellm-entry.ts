import { asFields } from "../../base/json/fields.ts";
import type { ImportedDeployment, ImportedLimits } from "./deployment.ts";
import type { ImportReport, SourcePath } from "./import-report.ts";
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

interface EntryContext {
  readonly at: SourcePath;
  readonly report: ImportReport;
  readonly references: References;
  /** Values of `credential_list` by name. */
  readonly credentials: ReadonlyMap<string, Fields>;
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
  "custom_llm_provider",
  "litellm_credential_name",
  "weight",
  "order",
  "rpm",
  "tpm",
  "max_parallel_requests",
  "input_cost_per_token",
  "output_cost_per_token",
]);

/** Explanations of fields that have no equal. */
const REMARKS: Readonly<Record<string, string>> = {
  aws_access_key_id: "Set AWS_ACCESS_KEY_ID in the environment.",
  aws_secret_access_key: "Set AWS_SECRET_ACCESS_KEY in the environment.",
  aws_session_token: "Set AWS_SESSION_TOKEN in the environment.",
  drop_params: "Parameters that a provider does not take are always left out, with a warning in the answer.",
  timeout: "Timers apply to all models: timers.total_ms.",
  stream_timeout: "Timers apply to all models: timers.first_token_ms.",
  request_timeout: "Timers apply to all models: timers.total_ms.",
  max_retries: "Retries apply to all models: limits.repeats.",
  num_retries: "Retries apply to all models: limits.repeats.",
  vertex_credentials: "Set GOOGLE_APPLICATION_CREDENTIALS in the environment.",
  temperature: "Store a preset for the account: gateway named-routes set @name.",
  max_tokens: "Store a preset for the account: gateway named-routes set @name.",
  top_p: "Store a preset for the account: gateway named-routes set @name.",
  tags: "Requests are not routed by tags.",
};

/** Modes whose models this gateway serves. */
const MODES = new Set(["chat", "completion", "responses", "embedding"]);

/** Reads a member of `model_list`; null, with an entry in the report, if it cannot be called here. */
export function readLitellmEntry(item: unknown, context: EntryContext): LitellmEntry | null {
  const fields = asFields(item) ?? {};
  const written = asFields(fields["litellm_params"]) ?? {};
  const params = { ...context.credentials.get(String(written["litellm_credential_name"])), ...written };
  const info = asFields(fields["model_info"]) ?? {};
  const { model_name: name } = fields;
  const { model } = params;
  const reject = (text: string) => {
    context.report.missing(context.at, { text });
    return null;
  };
  if (typeof name !== "string" || name === "") return reject("It has no model_name.");
  if (typeof model !== "string" || model === "") return reject(`${name} has no litellm_params.model.`);
  const { mode = "chat" } = info;
  if (typeof mode === "string" && !MODES.has(mode))
    return reject(
      `${name} has the mode ${mode}, which the import does not support. List the model under providers.`,
    );
  if (model === "*")
    return reject("All models of the catalog whose providers have keys are available by their ids.");
  const found = splitModel(model, params);
  if (found === null) return reject(`The provider of ${name} is not known: add it under providers.`);
  reportFields(params, found.provider, context);
  const number = (value: unknown) => (Number(value) > 0 ? Number(value) : 0);
  const [rpm, tpm] = [number(params["rpm"] ?? fields["rpm"]), number(params["tpm"] ?? fields["tpm"])];
  const limits = readLimits({ rpm, tpm, concurrent: number(params["max_parallel_requests"]) });
  const deployment = toDeployment(found, { params, info, context, limits });
  return { name, deployment, weight: number(params["weight"]), order: number(params["order"]), rpm, tpm };
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
  const bare = BARE_MODELS.find(([pattern]) => pattern.test(model))?.[1];
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
}

function toDeployment(
  found: SplitModel,
  { params, info, context, limits }: DeploymentParts,
): ImportedDeployment {
  const { at, references } = context;
  const prompt = toPrice(params["input_cost_per_token"] ?? info["input_cost_per_token"]);
  const completion = toPrice(params["output_cost_per_token"] ?? info["output_cost_per_token"]);
  const known = partsOf(found.provider);
  const parts = Object.entries(PARTS).flatMap(([field, part]) => {
    const value = known.includes(part) ? references.read(params[field]) : undefined;
    return value === undefined ? [] : [[part, value]];
  });
  return {
    at,
    ...found,
    similarTo: typeof info["base_model"] === "string" ? info["base_model"].replace(/^.*\//, "") : undefined,
    apiKey: references.read(params["api_key"]),
    baseUrl: references.read(params["api_base"] ?? params["base_url"]),
    parts: Object.fromEntries(parts) as Record<string, string>,
    prices:
      prompt === undefined && completion === undefined
        ? undefined
        : { prompt: prompt ?? "0", completion: completion ?? "0" },
    limits,
    output: info["mode"] === "embedding" ? "embedding" : "text",
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

/** Reports the fields of `litellm_params` that are not taken over. */
function reportFields(params: Fields, provider: KnownProvider, { at, report }: EntryContext): void {
  for (const name of Object.keys(params)) {
    const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
    if (READ.has(name) || (part !== undefined && partsOf(provider).includes(part))) continue;
    const text = Object.hasOwn(REMARKS, name) ? REMARKS[name] : undefined;
    report.missing(
      { file: at.file, path: [...at.path, "litellm_params", name] },
      { text: text ?? "It has no equal." },
    );
  }
}

/** The digits after the point that prices may have. */
const DIGITS = 18;

/** Returns a price as a decimal string: `1.5e-7` becomes `0.00000015`. Undefined for what is no price. */
function toPrice(value: unknown): string | undefined {
  const price = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof price !== "number" || !(price >= 0 && price < 1e12)) return undefined;
  if (price === 0) return "0";
  // The shortest digits that mean the same number: toFixed alone would show its binary error.
  const [mantissa = "", exponent = "0"] = price.toExponential().split("e");
  const [first = "", fraction = ""] = mantissa.split(".");
  const digits = first + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`.slice(0, DIGITS + 2).replace(/\.?0+$/, "");
  if (point >= digits.length) return digits.padEnd(point, "0");
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}
