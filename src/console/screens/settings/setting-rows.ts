/** What the settings screen shows of a setting. Pure functions. */
import type { CatalogChange, Setting } from "../../api/schema.ts";

/**
 * Returns the settings whose name, value or description contains all words of a text. With `changedOnly`, returns only settings that differ
 * from their defaults.
 */
export function filterSettings(
  all: readonly Setting[],
  typed: string,
  changedOnly: boolean,
): readonly Setting[] {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((setting) => {
    if (changedOnly && setting.source === "default") return false;
    const text = `${setting.name} ${printValue(setting.value)} ${setting.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Returns a value in the form of the configuration; empty for none. */
export function printValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Returns where exactly a value comes from: file and line with what the file refers to there, or the variable; null if the source says
 * all.
 */
export function printPlace({ file, line, variable, references }: Setting): string | null {
  if (variable !== null) return variable;
  if (file === null) return null;
  const name = file.split("/").at(-1) ?? file;
  return [line === null ? name : `${name}:${line}`, ...references].join(", ");
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
