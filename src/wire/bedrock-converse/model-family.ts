import type { ModelTarget } from "../canonical/format.ts";

/** Whose rules a model follows behind Converse, which hides less of them than it says. */
export type ModelFamily = "claude" | "nova" | "openai" | "other";

/** The family by the model's name, which may have a region before it or be an ARN. */
export function readFamily(model: string): ModelFamily {
  if (/anthropic\.|claude/.test(model)) return "claude";
  if (/amazon\.nova/.test(model)) return "nova";
  return /(^|[./])openai\./.test(model) ? "openai" : "other";
}

/** A Claude that decides itself how long it thinks: it takes efforts and no budgets, and no sampling parameters. */
export function thinksAdaptively(target: ModelTarget): boolean {
  const { reasoning } = target;
  return readFamily(target.name) === "claude" && reasoning?.efforts !== undefined && !reasoning.budgetTokens;
}
