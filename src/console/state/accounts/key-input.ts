/** The fields of the form for a key, and what is sent of them. Pure functions. */
import { splitLines } from "../split-lines.ts";

type SpendLimitPeriod = "total" | "day" | "week" | "month";

/** The typed values. */
export interface KeyInput {
  readonly name: string;
  readonly kind: "inference" | "management";
  readonly accountId: string | null;
  /** The user whose key it is; null for a service key of an organization. */
  readonly userId: string | null;
  /** The team of the organization; null for none. */
  readonly teamId: string | null;
  /** Patterns of models, separated by commas or white space. Empty: all models. */
  readonly models: string;
  readonly spendLimit: string;
  readonly spendLimitPeriod: SpendLimitPeriod;
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly concurrent: string;
  /** How long bodies are stored. Seconds; 0: they are not; empty: as the team or account says. */
  readonly promptLog: string;
  /** How long answers are given again to equal requests. Seconds; 0: they are not; empty: as the team or account says. */
  readonly cache: string;
  /** Tags, one per line or separated by commas. A tag may have blanks. */
  readonly tags: string;
  /** A day, such as `2027-01-31`, at whose end the key expires. Empty: never. */
  readonly expires: string;
}

/** The fields of a form that is empty. */
export const NEW_KEY: KeyInput = {
  name: "",
  kind: "inference",
  accountId: null,
  userId: null,
  teamId: null,
  models: "",
  spendLimit: "",
  spendLimitPeriod: "total",
  requestsPerMinute: "",
  tokensPerMinute: "",
  concurrent: "",
  promptLog: "",
  cache: "",
  tags: "",
  expires: "",
};

/** A key of the API, as far as the form shows it. */
interface KeyFields {
  readonly name: string;
  readonly kind: "inference" | "management";
  readonly account_id: string;
  readonly user_id: string | null;
  readonly team_id: string | null;
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
  readonly tags: readonly string[] | null;
  readonly expires_at: string | null;
}

/** Returns the form for a key. */
export function readKey(key: KeyFields): KeyInput {
  const { requests_per_minute, tokens_per_minute, concurrent } = key.rate_limit;
  return {
    name: key.name,
    kind: key.kind,
    accountId: key.account_id,
    userId: key.user_id,
    teamId: key.team_id,
    models: (key.models ?? []).join(", "),
    spendLimit: print(key.spend_limit),
    spendLimitPeriod: key.spend_limit_period,
    requestsPerMinute: print(requests_per_minute),
    tokensPerMinute: print(tokens_per_minute),
    concurrent: print(concurrent),
    promptLog: print(key.prompt_log),
    cache: print(key.cache),
    tags: (key.tags ?? []).join(", "),
    expires: key.expires_at === null ? "" : key.expires_at.slice(0, 10),
  };
}

function print(value: number | null): string {
  return value === null ? "" : String(value);
}

/** A form that cannot be sent: the field, and what is wrong with it. */
interface KeyProblem {
  readonly field: keyof KeyInput;
  readonly problem: "required" | "number" | "whole" | "seconds";
}

/** Returns the first problem of a form; null if it can be sent. */
export function findProblem(input: KeyInput): KeyProblem | null {
  if (input.name.trim() === "") return { field: "name", problem: "required" };
  const { spendLimit, requestsPerMinute, tokensPerMinute, concurrent, promptLog, cache } = input;
  if (spendLimit.trim() !== "" && !(Number(spendLimit) >= 0))
    return { field: "spendLimit", problem: "number" };
  const counts = { requestsPerMinute, tokensPerMinute, concurrent };
  for (const [field, value] of Object.entries(counts))
    if (value.trim() !== "" && !/^[1-9]\d*$/.test(value.trim()))
      return { field: field as keyof KeyInput, problem: "whole" };
  for (const [field, value] of Object.entries({ promptLog, cache }))
    if (!/^\d*$/.test(value.trim())) return { field: field as keyof KeyInput, problem: "seconds" };
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
  const tags = splitLines(input.tags);
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
    tags: tags.length === 0 ? null : tags,
  };
}

/** Returns the settings that differ between two states of a form: others are not sent, because the person may not be allowed to set them. */
export function toChanges(before: KeyInput, input: KeyInput): Record<string, unknown> {
  const known = toSettings(before);
  const changed = Object.entries(toSettings(input)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(known[name]),
  );
  return Object.fromEntries(changed);
}

function toNumber(typed: string): number | null {
  return typed.trim() === "" ? null : Number(typed);
}
