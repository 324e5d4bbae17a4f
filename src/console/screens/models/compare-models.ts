import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { text } from "../../text/text.ts";
import { hasReasoning, hasTools, perMillion } from "./model-filters.ts";
import { formatPerMillion, printModalities, printTokens } from "./model-format.ts";

const { facts, yes, no } = text.models;

/** One fact of all compared models. */
export interface Comparison {
  readonly label: string;
  /** The fact of each model, in the order of the models. */
  readonly values: readonly string[];
  /** The indexes of the models with the best value; none if all have the same one. */
  readonly best: ReadonlySet<number>;
  readonly isNumber: boolean;
}

/** A group of facts. */
interface ComparisonGroup {
  readonly title: string;
  readonly rows: readonly Comparison[];
}

/** Compares models fact by fact. */
export function compareModels(models: readonly ModelDetails[]): readonly ComparisonGroup[] {
  return [
    { title: facts.price, rows: comparePrices(models) },
    { title: facts.limits, rows: compareLimits(models) },
    { title: facts.measured, rows: compareSpeed(models) },
    { title: facts.abilities, rows: compareAbilities(models) },
  ];
}

const PRICES = [
  [facts.input, "prompt"],
  [facts.output, "completion"],
  [facts.cacheRead, "input_cache_read"],
  [facts.cacheWrite, "input_cache_write"],
] as const;

function comparePrices(models: readonly ModelDetails[]): Comparison[] {
  return PRICES.map(([label, name]) =>
    compareNumbers(
      label,
      models.map(({ pricing }) => perMillion(pricing?.[name])),
      { isLess: true, print: (dollars) => `$${formatPerMillion(dollars)}` },
    ),
  );
}

function compareLimits(models: readonly ModelDetails[]): Comparison[] {
  const rule = { isLess: false, print: printTokens };
  return [
    compareNumbers(
      facts.context,
      models.map(({ context_length }) => context_length),
      rule,
    ),
    compareNumbers(
      facts.maxOutput,
      models.map(({ max_output_tokens }) => max_output_tokens),
      rule,
    ),
  ];
}

function compareSpeed(models: readonly ModelDetails[]): Comparison[] {
  return [
    compareNumbers(facts.latency, models.map(findBestLatency), {
      isLess: true,
      print: (ms) => `${Math.round(ms)} ms`,
    }),
    compareNumbers(facts.throughput, models.map(bestThroughput), {
      isLess: false,
      print: (rate) => rate.toFixed(1),
    }),
  ];
}

function compareAbilities(models: readonly ModelDetails[]): Comparison[] {
  const texts = (label: string, of: (model: ModelDetails) => string): Comparison => ({
    label,
    values: models.map(of),
    best: new Set(),
    isNumber: false,
  });
  const flag = (label: string, of: (model: ModelDetails) => boolean) =>
    texts(label, (model) => (of(model) ? yes : no));
  return [
    texts(facts.accepts, ({ input_modalities }) => printModalities(input_modalities)),
    texts(facts.returns, ({ output_modalities }) => printModalities(output_modalities)),
    flag(facts.tools, hasTools),
    flag(facts.reasoning, hasReasoning),
    flag(facts.structured, ({ supported_parameters }) => supported_parameters.includes("structured_outputs")),
    texts(facts.providers, ({ served_by, providers }) => `${served_by.length} / ${providers.length}`),
    texts(facts.released, ({ released }) => released ?? "–"),
  ];
}

function compareNumbers(
  label: string,
  numbers: readonly (number | null)[],
  { isLess, print }: { isLess: boolean; print: (n: number) => string },
): Comparison {
  const known = numbers.filter((value) => value !== null);
  const best = isLess ? Math.min(...known) : Math.max(...known);
  const differ = new Set(known).size > 1;
  return {
    label,
    values: numbers.map((value) => (value === null ? "–" : print(value))),
    best: new Set(differ ? numbers.flatMap((value, i) => (value === best ? [i] : [])) : []),
    isNumber: true,
  };
}

/** The smallest median time to first token of a model's endpoints, in milliseconds; null without a measurement. */
function findBestLatency({ endpoints }: ModelDetails): number | null {
  const known = endpoints.flatMap(({ latency_ms }) => latency_ms?.p50 ?? []);
  return known.length === 0 ? null : Math.min(...known);
}

/** The greatest median of tokens per second of a model's endpoints; null without a measurement. */
function bestThroughput({ endpoints }: ModelDetails): number | null {
  const known = endpoints.flatMap(({ throughput }) => throughput?.p50 ?? []);
  return known.length === 0 ? null : Math.max(...known);
}
