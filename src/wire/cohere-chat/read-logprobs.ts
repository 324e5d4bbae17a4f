import { asFields } from "../../base/json/fields.ts";

/**
 * Converts Cohere's log probabilities to OpenAI's form; null if there are none. Cohere sends a text and the log probabilities of
 * its tokens without their texts, so the text becomes logprob token with their sum.
 */
export function readLogprobs(value: unknown): { content: unknown[] } | null {
  const items = Array.isArray(value) ? value : [value];
  const content = items.flatMap((item) => {
    const fields = asFields(item);
    const values = fields?.["logprobs"];
    if (!Array.isArray(values) || values.length === 0) return [];
    const token = typeof fields?.["text"] === "string" ? fields["text"] : "";
    const sum = values.reduce(
      (total: number, logprob) => total + (typeof logprob === "number" ? logprob : 0),
      0,
    );
    return [{ token, logprob: sum, bytes: [...Buffer.from(token)], top_logprobs: [] }];
  });
  return content.length === 0 ? null : { content };
}
