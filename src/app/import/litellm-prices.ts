import type { ConfiguredOutput } from "../config/config-schema.ts";
import type { ImportedPrices } from "./deployment.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The names of prices by LiteLLM's names. */
const TOKENS: Readonly<Record<string, string>> = {
  input_cost_per_token: "prompt",
  output_cost_per_token: "completion",
  cache_read_input_token_cost: "cache_read",
  cache_creation_input_token_cost: "cache_write",
  cache_creation_input_token_cost_above_1hr: "cache_write_1h",
  input_cost_per_audio_token: "audio_in",
  output_cost_per_audio_token: "audio_out",
  output_cost_per_reasoning_token: "reasoning",
  output_cost_per_image_token: "image_out",
  input_cost_per_request: "request",
};

/** The names of prices whose meaning depends on what the model makes. */
const UNITS: Readonly<Partial<Record<ConfiguredOutput, Readonly<Record<string, string>>>>> = {
  text: { input_cost_per_image: "image" },
  image: {
    input_cost_per_image: "generated_image",
    output_cost_per_image: "generated_image",
  },
  speech: { input_cost_per_character: "character" },
  transcription: { input_cost_per_second: "audio_second", output_cost_per_second: "audio_second" },
  rerank: { input_cost_per_query: "search" },
};

const ABOVE = /^(.+)_above_(\d+)k_tokens$/;

/** The prices of a deployment, and the fields that have no equal. */
interface ReadPrices {
  /** Undefined if the file has none. */
  readonly prices: ImportedPrices | undefined;
  /** The fields that were read. */
  readonly read: ReadonlySet<string>;
}

/** Returns whether a field of `litellm_params` or `model_info` is a price. */
export function isPriceField(name: string): boolean {
  return /(?:^|_)cost(?:_|$)/.test(name);
}

/** Reads the prices of a deployment from its parameters and its `model_info`. */
export function readLitellmPrices(fields: Fields, output: ConfiguredOutput): ReadPrices {
  const names = { ...TOKENS, ...UNITS[output] };
  const read = new Set<string>();
  const prices: Record<string, string> = {};
  const tiers = new Map<number, Record<string, string>>();
  for (const [field, value] of Object.entries(fields)) {
    const [, base = field, thousands] = ABOVE.exec(field) ?? [];
    const name = Object.hasOwn(names, base) ? names[base] : undefined;
    const price = toPrice(value);
    if (name === undefined || price === undefined) continue;
    read.add(field);
    if (thousands === undefined) prices[name] ??= price;
    else addToTier(tiers, Number(thousands) * 1_000, { [name]: price });
  }
  if (read.size === 0) return { prices: undefined, read };
  const whole = { prompt: "0", completion: "0", ...prices };
  return { prices: { prices: whole, priceTiers: listTiers(whole, tiers) }, read };
}

function addToTier(
  tiers: Map<number, Record<string, string>>,
  above: number,
  price: Record<string, string>,
): void {
  tiers.set(above, { ...tiers.get(above), ...price });
}

/** In LiteLLM, a longer prompt changes only the prices that are named for it, from the first token above the size on. */
function listTiers(
  base: Readonly<Record<string, string>>,
  tiers: ReadonlyMap<number, Readonly<Record<string, string>>>,
): ImportedPrices["priceTiers"] {
  let before = base;
  return [...tiers]
    .sort(([a], [b]) => a - b)
    .map(([above, changed]) => {
      before = { ...before, ...changed };
      return { min_prompt_tokens: above + 1, ...before };
    });
}

/** The digits after the point that prices may have. */
const DIGITS = 18;

/** Returns a price as a decimal string: `1.5e-7` becomes `0.00000015`. Undefined for what is no price. */
function toPrice(value: unknown): string | undefined {
  // LiteLLM converts texts, such as the `1e-6` that PyYAML does not read as a number.
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
