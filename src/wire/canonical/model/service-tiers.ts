import { createTable, type MutableFields } from "../../../base/json/fields.ts";

/** OpenAI's service tiers by the names that clients of any format use. */
export const OPENAI_SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: "auto",
  default: "default",
  standard_only: "default",
  flex: "flex",
  scale: "scale",
  priority: "priority",
};

/**
 * The tiers that answers of OpenAI's APIs may name, by the names of all vendors (openai-node 6.49, November 2026). Clients validate the
 * closed list, so that any other name is left out.
 */
const OPENAI_ANSWERS: Readonly<Record<string, string>> = createTable({
  auto: "auto",
  default: "default",
  flex: "flex",
  scale: "scale",
  priority: "priority",
  // Anthropic, Groq, Bedrock.
  standard: "default",
  on_demand: "default",
  performance: "priority",
});

/** The tiers that answers of Anthropic's API may name, as above (@anthropic-ai/sdk 1.12, November 2026). */
const ANTHROPIC_ANSWERS: Readonly<Record<string, string>> = createTable({
  standard: "standard",
  priority: "priority",
  batch: "batch",
  default: "standard",
  on_demand: "standard",
});

/** Returns the tier that served a request as OpenAI's APIs name it; undefined if they have no name for it. */
export function nameOpenaiTier(tier: string): string | undefined {
  return OPENAI_ANSWERS[tier];
}

/** Corrects the `service_tier` of an answer that is forwarded in OpenAI's formats. */
export function correctOpenaiTier(answer: MutableFields): void {
  correctTier(answer, OPENAI_ANSWERS);
}

/** Corrects the `service_tier` of a usage of Anthropic's format. */
export function correctAnthropicTier(usage: MutableFields): void {
  correctTier(usage, ANTHROPIC_ANSWERS);
}

function correctTier(fields: MutableFields, names: Readonly<Record<string, string>>): void {
  const tier = fields["service_tier"];
  if (tier === undefined || tier === null) return;
  const name = typeof tier === "string" ? names[tier] : undefined;
  if (name !== tier) fields["service_tier"] = name;
}
