/** OpenAI's service tiers by the names that clients of any format use. */
export const OPENAI_SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: "auto",
  default: "default",
  standard_only: "default",
  flex: "flex",
  scale: "scale",
  priority: "priority",
};
