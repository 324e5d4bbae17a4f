import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_STATUS, type ErrorCode } from "../../../src/base/failures/errors.ts";
import { createIdSource } from "../../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { priceWhole } from "../../../src/core/catalog/prices/price-usage.ts";
import type { Prices } from "../../../src/core/catalog/records/records.ts";
import type { PlanEntry } from "../../../src/core/usage/records/plan-entry.ts";
import type { AttemptRecord, UsageRecord } from "../../../src/core/usage/records/records.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { NO_TOKENS, type TokenUsage } from "../../../src/wire/conversation/usage.ts";
import { createSeededRandom } from "../seeded-random.ts";

/** An account's key that generations are recorded for. */
export interface SeededKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly userId: string | null;
  readonly teamId?: string | null;
  /** How many of the generations are this key's, relative to the others. */
  readonly weight: number;
}

/** What is recorded. */
export interface SeedOptions {
  readonly keys: readonly SeededKey[];
  readonly count: number;
  /** The time of the last generation, milliseconds since the epoch. */
  readonly until: number;
  /** The time over which they are spread. Milliseconds. */
  readonly spanMs: number;
  readonly seed: number;
}

interface SeededModel {
  readonly id: string;
  readonly providers: readonly string[];
  readonly weight: number;
  /** Milliseconds to the first token, and per completion token. */
  readonly firstTokenMs: number;
  readonly tokenMs: number;
}

const MODELS: readonly SeededModel[] = [
  {
    id: "anthropic/claude-sonnet-4.6",
    providers: ["anthropic", "amazon-bedrock"],
    weight: 8,
    firstTokenMs: 900,
    tokenMs: 14,
  },
  { id: "openai/gpt-5-mini", providers: ["openai", "azure"], weight: 7, firstTokenMs: 620, tokenMs: 8 },
  {
    id: "anthropic/claude-haiku-4.5",
    providers: ["anthropic", "amazon-bedrock"],
    weight: 4,
    firstTokenMs: 430,
    tokenMs: 7,
  },
  { id: "openai/gpt-5", providers: ["openai", "azure"], weight: 3, firstTokenMs: 1_900, tokenMs: 17 },
  {
    id: "moonshotai/kimi-k2.6",
    providers: ["deepinfra", "fireworks", "baseten"],
    weight: 3,
    firstTokenMs: 380,
    tokenMs: 9,
  },
  { id: "deepseek/deepseek-chat", providers: ["deepseek"], weight: 2, firstTokenMs: 1_100, tokenMs: 21 },
  {
    id: "anthropic/claude-opus-4.8",
    providers: ["anthropic", "amazon-bedrock"],
    weight: 1,
    firstTokenMs: 1_600,
    tokenMs: 19,
  },
];

/** Programs that send requests, as their `User-Agent` names them. */
const CLIENTS = [
  { client: "openai-python", clientVersion: "2.8.1", weight: 6 },
  { client: "claude-code", clientVersion: "2.1.329", weight: 4 },
  { client: "claude-code", clientVersion: "2.1.301", weight: 1 },
  { client: "vercel-ai-sdk", clientVersion: "5.0.93", weight: 3 },
  { client: "curl", clientVersion: "8.14.1", weight: 1 },
] as const;

const APIS = ["chat.completions", "chat.completions", "messages", "responses"];

/** A number in [0, 1). */
type Draw = () => number;

/** Returns records of generations that look like those of a few teams: several models, failovers, failures and cancellations. */
export function seedGenerations(options: SeedOptions): readonly UsageRecord[] {
  const draw: Draw = createSeededRandom(options.seed).next;
  const random = createSystemRandom();
  const prices = readPrices();
  const times = Array.from({ length: options.count }, () => options.until - draw() ** 1.3 * options.spanMs);
  return times
    .sort((a, b) => a - b)
    .map((time) => {
      const createdAt = Math.floor(time);
      const ids = createIdSource({ ...systemClock, now: () => createdAt }, random);
      const identity = { id: ids.next("gen"), requestId: ids.next("req"), createdAt };
      return makeRecord(identity, pick(options.keys, draw), { prices, draw });
    });
}

interface Materials {
  readonly prices: ReadonlyMap<string, Prices>;
  readonly draw: Draw;
}

function makeRecord(
  identity: Pick<UsageRecord, "id" | "requestId" | "createdAt">,
  { keyId, accountId, userId, teamId = null }: SeededKey,
  { prices, draw }: Materials,
): UsageRecord {
  const model = pick(MODELS, draw);
  const way = makeAttempts(model, identity.createdAt, draw);
  const usage = way.failed ? NO_TOKENS : makeUsage(draw);
  const price = prices.get(`${model.id} ${way.provider}`) ?? null;
  const cost = price === null ? 0 : priceWhole({ prices: price, usage, advisors: [] });
  const firstTokenAt = way.failed ? null : way.endedAt + Math.round(40 + 60 * draw());
  const isCancelled = !way.failed && draw() < 0.015;
  const { client, clientVersion } = pick(CLIENTS, draw);
  const streamMs = usage.completionTokens * model.tokenMs * (0.7 + 0.6 * draw());
  return {
    ...identity,
    ...usage,
    accountId,
    keyId,
    userId,
    ...(teamId === null ? {} : { teamId }),
    addressHash: null,
    client,
    clientVersion,
    api: APIS[Math.floor(draw() * APIS.length)] as string,
    streamed: draw() < 0.8,
    requestedModel: model.id,
    model: model.id,
    provider: way.provider,
    upstreamModel: model.id.split("/")[1] as string,
    outcome: way.failed ? "failed" : isCancelled ? "cancelled" : "completed",
    error: way.failed ? way.error : null,
    status: way.failed ? way.status : 200,
    finishReason: way.failed || isCancelled ? null : draw() < 0.2 ? "tool_calls" : "stop",
    nativeFinishReason: way.failed || isCancelled ? null : "stop",
    isByok: false,
    costNanodollars: cost,
    upstreamCostNanodollars: cost,
    ...(cost > 0 ? { heldNanodollars: cost * 3 } : {}),
    prices: price,
    firstTokenAt,
    finishedAt: firstTokenAt === null ? way.endedAt + 2 : Math.round(firstTokenAt + streamMs),
    attempts: way.attempts,
    plan: makePlan(model),
  };
}

interface Way {
  readonly attempts: readonly AttemptRecord[];
  readonly provider: string;
  readonly endedAt: number;
  readonly failed: boolean;
  readonly error: string | null;
  readonly status: number | null;
}

/** What upstreams fail with: HTTP status, error type, how long it takes. */
const FAILURES = [
  { status: 429, error: "rate_limit_exceeded", ms: 180 },
  { status: 529, error: "unavailable", ms: 240 },
  { status: 503, error: "unavailable", ms: 900 },
  { status: null, error: "upstream_error", ms: 10_000 },
] as const;

function makeAttempts(model: SeededModel, createdAt: number, draw: Draw): Way {
  const attempts: AttemptRecord[] = [];
  let at = createdAt + Math.round(2 + 4 * draw());
  if (draw() < 0.02) return makeRejection(model, at);
  for (const provider of model.providers) {
    const failure = draw() < 0.055 ? FAILURES[Math.floor(draw() * FAILURES.length)] : undefined;
    const usualMs = failure?.ms ?? model.firstTokenMs;
    const durationMs = Math.round(usualMs * (0.6 + 0.9 * draw()));
    attempts.push({
      provider,
      upstreamModel: model.id.split("/")[1] as string,
      format: formatOf(provider),
      isByok: false,
      startedAt: at,
      durationMs,
      upstreamStatus: failure === undefined ? 200 : failure.status,
      error: failure?.error ?? null,
    });
    at += durationMs;
    if (failure === undefined)
      return { attempts, provider, endedAt: at, failed: false, error: null, status: 200 };
  }
  const last = attempts.at(-1) as AttemptRecord;
  const { provider, error } = last;
  return { attempts, provider, endedAt: at, failed: true, error, status: ERROR_STATUS[error as ErrorCode] };
}

/** A prompt that does not fit the model: no other provider is tried. */
function makeRejection(model: SeededModel, startedAt: number): Way {
  const provider = model.providers[0] as string;
  const error = "context_length_exceeded";
  const attempt: AttemptRecord = {
    provider,
    upstreamModel: model.id.split("/")[1] as string,
    format: formatOf(provider),
    isByok: false,
    startedAt,
    durationMs: 140,
    upstreamStatus: 400,
    error,
  };
  return { attempts: [attempt], provider, endedAt: startedAt + 140, failed: true, error, status: 400 };
}

function formatOf(provider: string): FormatName {
  return provider === "anthropic" ? "anthropic-messages" : "openai-chat";
}

function makeUsage(draw: Draw): TokenUsage {
  const promptTokens = Math.round(200 + 14_000 * draw() ** 3);
  const cached = draw() < 0.4 ? Math.floor((promptTokens * draw()) / 128) * 128 : 0;
  const completionTokens = Math.round(20 + 900 * draw() ** 2);
  return { ...NO_TOKENS, promptTokens, cachedTokens: cached, completionTokens };
}

function makePlan({ id, providers }: SeededModel): readonly PlanEntry[] {
  const entries = providers.map(
    (provider): PlanEntry => ({
      provider,
      model: id,
      isCandidate: true,
      why: providers.length === 1 ? ("only" as const) : ("price" as const),
    }),
  );
  return [
    ...entries,
    { provider: "openrouter", model: id, isCandidate: false, why: "zero_retention" },
    { provider: "github-models", model: id, isCandidate: false, why: "lacks_feature" },
  ];
}

/** Reads the catalog's prices of the seeded models, by model and provider. */
function readPrices(): ReadonlyMap<string, Prices> {
  const found = new Map<string, Prices>();
  for (const author of new Set(MODELS.map(({ id }) => id.split("/")[0]))) {
    const file = join(import.meta.dir, "../../../catalog/models", `${author}.json`);
    const models = JSON.parse(readFileSync(file, "utf8")) as readonly {
      readonly id: string;
      readonly endpoints: readonly { readonly provider: string; readonly prices?: Prices }[];
    }[];
    for (const { id, endpoints } of models)
      for (const { provider, prices } of endpoints)
        if (prices !== undefined) found.set(`${id} ${provider}`, prices);
  }
  return found;
}

/** Returns one of the items, by their weights. */
function pick<Item extends { readonly weight: number }>(items: readonly Item[], draw: Draw): Item {
  let rest = draw() * items.reduce((sum, { weight }) => sum + weight, 0);
  for (const item of items) {
    rest -= item.weight;
    if (rest < 0) return item;
  }
  return items.at(-1) as Item;
}
