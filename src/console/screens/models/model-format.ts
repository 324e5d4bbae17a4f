import type { CatalogModel } from "../../api/schema.ts";
import { formatShortCount } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";
import { hasReasoning, hasTools } from "./model-filters.ts";

/** Returns dollars per million tokens with as many decimals as tell prices apart: `2.50`, `0.075`. */
export function formatPerMillion(dollars: number): string {
  if (dollars === 0) return "0.00";
  if (dollars >= 1_000) return Math.round(dollars).toLocaleString("en-US");
  const digits = Math.max(3, 2 - Math.floor(Math.log10(dollars)));
  const printed = dollars.toFixed(Math.min(digits, 7));
  return printed.includes(".") ? printed.replace(/(\.\d\d\d*?)0+$/, "$1") : printed;
}

/** Returns the names of modalities: `Text, Images`. */
export function printModalities(modalities: readonly string[]): string {
  return modalities.map((name) => text.models.modalities[name] ?? name).join(", ");
}

/** Returns what a model can besides text: `Tools · Reasoning · Images`. */
export function printAbilities(model: CatalogModel): string {
  const inputs = model.input_modalities.filter((name) => name !== "text");
  const outputs = model.output_modalities.filter((name) => name !== "text");
  const made = outputs.map((name) => `→ ${text.models.modalities[name] ?? name}`);
  return [
    hasTools(model) ? text.models.tools : null,
    hasReasoning(model) ? text.models.reasoning : null,
    ...inputs.map((name) => text.models.modalities[name] ?? name),
    ...made,
  ]
    .filter((name) => name !== null)
    .join(" · ");
}

/** Returns a number of tokens in few characters; a dash for none. */
export function printTokens(tokens: number | null): string {
  if (tokens === null) return "–";
  return tokens >= 1_000 ? formatShortCount(Math.round(tokens / 1_000) * 1_000) : String(tokens);
}

/** The client API of models that are not for conversations, by their only output. */
const SOLE_APIS: Readonly<Record<string, string>> = {
  embedding: "embeddings",
  moderation: "moderations",
  rerank: "rerank",
  image: "images",
  speech: "speech",
  transcription: "transcriptions",
};

/** Returns the only client API of a model; null for a model for conversations, which all formats can call. */
export function soleApiOf({
  output_modalities,
}: {
  readonly output_modalities: readonly string[];
}): string | null {
  const [only = "", another] = output_modalities;
  return another === undefined ? (SOLE_APIS[only] ?? null) : null;
}
