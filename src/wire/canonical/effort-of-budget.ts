/** Returns the effort that spends about as many tokens on reasoning, for models that take efforts instead of a budget. */
export function effortOfBudget(tokens: number): string {
  if (tokens <= 4_096) return "low";
  return tokens <= 16_384 ? "medium" : "high";
}
