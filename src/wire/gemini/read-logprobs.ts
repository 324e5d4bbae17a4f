import { asFields, type Fields } from "../../base/json/fields.ts";

/** Converts `logprobsResult` to OpenAI's form; null if there is none. */
export function readLogprobs(result: unknown): Fields | null {
  const fields = asFields(result);
  const chosen = fields?.["chosenCandidates"];
  if (!Array.isArray(chosen)) return null;
  const top = Array.isArray(fields?.["topCandidates"]) ? fields["topCandidates"] : [];
  const content = chosen.map((token, index) => {
    const alternatives = asFields(top[index])?.["candidates"];
    return {
      ...readToken(token),
      top_logprobs: Array.isArray(alternatives) ? alternatives.map(readToken) : [],
    };
  });
  return { content };
}

function readToken(value: unknown): Fields {
  const fields = asFields(value) ?? {};
  const token = typeof fields["token"] === "string" ? fields["token"] : "";
  return { token, logprob: fields["logProbability"] ?? 0, bytes: [...Buffer.from(token)] };
}
