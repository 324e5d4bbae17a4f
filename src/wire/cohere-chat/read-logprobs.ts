import { asFields } from "../json/fields.ts";

/**
 * Cohere's log probabilities as OpenAI spells them; null where there are none. Cohere gives a text and the log
 * probabilities of its tokens, whose own texts it leaves out, so their sum is the text's.
 */
export function readLogprobs(value: unknown): { content: unknown[] } | null {
  const items = Array.isArray(value) ? value : [value];
  const content = items.flatMap((item) => {
    const fields = asFields(item);
    const values = fields?.["logprobs"];
    if (!Array.isArray(values) || values.length === 0) return [];
    const token = typeof fields?.["text"] === "string" ? fields["text"] : "";
    const logprob = values.reduce((sum: number, one) => sum + (typeof one === "number" ? one : 0), 0);
    return [{ token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] }];
  });
  return content.length === 0 ? null : { content };
}
