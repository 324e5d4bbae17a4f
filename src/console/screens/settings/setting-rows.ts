/** What the settings screen shows of a setting. Pure functions. */
import type { CatalogChange } from "../../api/schema.ts";

/** Returns a value in the form of the configuration; empty for none. */
export function printValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && Object.keys(value).length === 0) return "";
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the jumps of a price as texts: the kind of price, before and after, in dollars. */
export function printJumps(jumps: CatalogChange["jumps"], unknown: string): readonly string[] {
  return jumps.map(({ kind, before, after, min_prompt_tokens, from }) => {
    const about = [
      min_prompt_tokens === null ? "" : ` from ${min_prompt_tokens} tokens`,
      from === null ? "" : ` on ${from}`,
    ];
    return `${kind.replaceAll("_", " ")}${about.join("")}: ${price(before, unknown)} → ${price(after, unknown)}`;
  });
}

function price(dollars: string | null, unknown: string): string {
  return dollars === null ? unknown : `$${dollars}`;
}
