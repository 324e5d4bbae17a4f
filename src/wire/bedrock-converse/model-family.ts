import type { ModelTarget } from "../canonical/model/format.ts";

/** The vendor whose rules a model follows behind Converse: its parameters and limits differ from family to family. */
export type ModelFamily = "claude" | "nova" | "openai" | "other";

/** Returns the family of a model by its name, which may begin with a region or be an ARN. */
export function readFamily(model: string): ModelFamily {
  if (/anthropic\.|claude/.test(model)) return "claude";
  if (/amazon\.nova/.test(model)) return "nova";
  return /(^|[./])openai\./.test(model) ? "openai" : "other";
}

/**
 * Returns whether a model is a Claude that decides itself how long it thinks. Such a model takes efforts, but no budgets and no
 * sampling parameters.
 */
export function thinksAdaptively(target: ModelTarget): boolean {
  const { reasoning } = target;
  return readFamily(target.name) === "claude" && reasoning?.efforts !== undefined && !reasoning.budgetTokens;
}
