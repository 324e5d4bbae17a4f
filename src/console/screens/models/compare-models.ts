import { text } from "../../text/text.ts";
import { hasReasoning, hasTools, perMillion } from "./model-filters.ts";
import { formatPerMillion, printModalities, printTokens } from "./model-format.ts";
import type { ModelDetails } from "./model-types.ts";

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
export interface ComparisonGroup {
  readonly title: string;
  readonly rows: readonly Comparison[];
}

type NumberOf = (model: ModelDetails) => number | null;

/** Compares models fact by fact. */
export function compareModels(models: readonly ModelDetails[]): readonly ComparisonGroup[] {
  const numbers = (label: string, of: NumberOf, rule: { isLess: boolean; print: (n: number) => string }) =>
    compareNumbers(label, models.map(of), rule);
  const price = (label: string, name: "prompt" | "completion" | "input_cache_read" | "input_cache_write") =>
    numbers(label, ({ pricing }) => perMillion(pricing?.[name]), {
      isLess: true,
      print: (dollars) => `$${formatPerMillion(dollars)}`,
    });
  const texts = (label: string, of: (model: ModelDetails) => string): Comparison => ({
    label,
    values: models.map(of),
    best: new Set(),
    isNumber: false,
  });
  const flag = (label: string, of: (model: ModelDetails) => boolean) =>
    texts(label, (model) => (of(model) ? yes : no));
  const tokens = { isLess: false, print: (count: number) => printTokens(count) };
  return [
    {
      title: facts.price,
      rows: [
        price(facts.input, "prompt"),
        price(facts.output, "completion"),
        price(facts.cacheRead, "input_cache_read"),
        price(facts.cacheWrite, "input_cache_write"),
      ],
    },
    {
      title: facts.limits,
      rows: [
        numbers(facts.context, ({ context_length }) => context_length, tokens),
        numbers(facts.maxOutput, ({ max_output_tokens }) => max_output_tokens, tokens),
      ],
    },
    {
      title: facts.measured,
      rows: [
        numbers(facts.latency, bestLatency, { isLess: true, print: (ms) => `${Math.round(ms)} ms` }),
        numbers(facts.throughput, bestThroughput, { isLess: false, print: (rate) => rate.toFixed(1) }),
      ],
    },
    {
      title: facts.abilities,
      rows: [
        texts(facts.accepts, ({ input_modalities }) => printModalities(input_modalities)),
        texts(facts.returns, ({ output_modalities }) => printModalities(output_modalities)),
        flag(facts.tools, hasTools),
        flag(facts.reasoning, hasReasoning),
        flag(facts.structured, ({ supported_parameters }) =>
          supported_parameters.includes("structured_outputs"),
        ),
        texts(facts.providers, ({ served_by, providers }) => `${served_by.length} / ${providers.length}`),
        texts(facts.released, ({ released }) => released ?? "–"),
      ],
    },
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

/** The least median time to first token of a model's endpoints in milliseconds; null without a measurement. */
function bestLatency({ endpoints }: ModelDetails): number | null {
  const known = endpoints.flatMap(({ latency_ms }) => latency_ms?.p50 ?? []);
  return known.length === 0 ? null : Math.min(...known);
}

/** The greatest median of tokens per second of a model's endpoints; null without a measurement. */
function bestThroughput({ endpoints }: ModelDetails): number | null {
  const known = endpoints.flatMap(({ throughput }) => throughput?.p50 ?? []);
  return known.length === 0 ? null : Math.max(...known);
}
