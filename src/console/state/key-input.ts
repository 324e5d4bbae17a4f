/** The fields of the form for a key, and what is sent of them. Pure functions. */

type SpendLimitPeriod = "total" | "day" | "week" | "month";

/** The typed values. */
export interface KeyInput {
  readonly name: string;
  readonly kind: "inference" | "management";
  readonly accountId: string | null;
  /** Patterns of models, separated by commas or white space. Empty: all models. */
  readonly models: string;
  readonly spendLimit: string;
  readonly spendLimitPeriod: SpendLimitPeriod;
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly concurrent: string;
  /** How long bodies are stored. Seconds; empty: they are not. */
  readonly promptLog: string;
  /** How long answers are given again to equal requests. Seconds; empty: they are not. */
  readonly cache: string;
  /** A day, such as `2027-01-31`, at whose end the key expires. Empty: never. */
  readonly expires: string;
}

/** The fields of a form that is empty. */
export const NEW_KEY: KeyInput = {
  name: "",
  kind: "inference",
  accountId: null,
  models: "",
  spendLimit: "",
  spendLimitPeriod: "total",
  requestsPerMinute: "",
  tokensPerMinute: "",
  concurrent: "",
  promptLog: "",
  cache: "",
  expires: "",
};

/** A key of the API, as far as the form shows it. */
interface KeyFields {
  readonly name: string;
  readonly kind: "inference" | "management";
  readonly account_id: string;
  readonly models: readonly string[] | null;
  readonly spend_limit: number | null;
  readonly spend_limit_period: SpendLimitPeriod;
  readonly rate_limit: {
    readonly requests_per_minute: number | null;
    readonly tokens_per_minute: number | null;
    readonly concurrent: number | null;
  };
  readonly prompt_log: number | null;
  readonly cache: number | null;
  readonly expires_at: string | null;
}

/** Returns the form for a key. */
export function readKey(key: KeyFields): KeyInput {
  const { requests_per_minute, tokens_per_minute, concurrent } = key.rate_limit;
  return {
    name: key.name,
    kind: key.kind,
    accountId: key.account_id,
    models: (key.models ?? []).join(", "),
    spendLimit: print(key.spend_limit),
    spendLimitPeriod: key.spend_limit_period,
    requestsPerMinute: print(requests_per_minute),
    tokensPerMinute: print(tokens_per_minute),
    concurrent: print(concurrent),
    promptLog: print(key.prompt_log),
    cache: print(key.cache),
    expires: key.expires_at === null ? "" : key.expires_at.slice(0, 10),
  };
}

function print(value: number | null): string {
  return value === null ? "" : String(value);
}

/** A form that cannot be sent: the field, and what is wrong with it. */
interface KeyProblem {
  readonly field: keyof KeyInput;
  readonly problem: "required" | "number" | "whole";
}

/** Returns the first problem of a form; null if it can be sent. */
export function findProblem(input: KeyInput): KeyProblem | null {
  if (input.name.trim() === "") return { field: "name", problem: "required" };
  const { spendLimit, requestsPerMinute, tokensPerMinute, concurrent, promptLog, cache } = input;
  if (spendLimit.trim() !== "" && !(Number(spendLimit) >= 0))
    return { field: "spendLimit", problem: "number" };
  const counts = { requestsPerMinute, tokensPerMinute, concurrent, promptLog, cache };
  for (const [field, value] of Object.entries(counts))
    if (value.trim() !== "" && !/^[1-9]\d*$/.test(value.trim()))
      return { field: field as keyof KeyInput, problem: "whole" };
  return null;
}

/** Returns the settings of the API that a form stands for. Management keys have a name and an end only. */
export function toSettings(input: KeyInput): Record<string, unknown> {
  const common = {
    name: input.name.trim(),
    expires_at: input.expires === "" ? null : `${input.expires}T23:59:59Z`,
  };
  if (input.kind === "management") return common;
  const models = input.models.split(/[\s,]+/).filter(Boolean);
  const limits = {
    requests_per_minute: toNumber(input.requestsPerMinute),
    tokens_per_minute: toNumber(input.tokensPerMinute),
    concurrent: toNumber(input.concurrent),
  };
  const hasLimits = Object.values(limits).some((limit) => limit !== null);
  return {
    ...common,
    models: models.length === 0 ? null : models,
    spend_limit: toNumber(input.spendLimit),
    spend_limit_period: input.spendLimitPeriod,
    rate_limit: hasLimits ? limits : null,
    prompt_log: toNumber(input.promptLog),
    cache: toNumber(input.cache),
  };
}

function toNumber(typed: string): number | null {
  return typed.trim() === "" ? null : Number(typed);
}
