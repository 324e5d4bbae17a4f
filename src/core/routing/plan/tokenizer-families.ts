import type { ModelRecord } from "../../catalog/records/records.ts";

/** How a family of tokenizers counts, in tokens per token of `o200k_base`. */
interface TokenizerFamily {
  /** A lower bound for any text. */
  readonly least: number;
  /** Typical for prose and code in English. */
  readonly usual: number;
  /** It is `o200k_base` itself, or counts plain text alike. */
  readonly isCounted?: true;
}

/**
 * A lower bound for plain text with any current tokenizer. `cl100k_base`, on which most open vocabularies are based, has at
 * least 0.98 on the samples below. Vocabularies that are not public may merge more.
 */
export const MIN_PLAIN = 0.93;

/**
 * Families by `ModelRecord.tokenizer`. Measured with the public tokenizers on the samples of test/support/clients/text-samples (17 languages, code,
 * JSON, logs, numbers, emoji, base64): `least` is below the lowest ratio of any kind, except repetitions of one character. Claude's
 * tokenizer is not public: `least` is derived from the lowest ratio of its older one (0.86, numbers), `usual` from Anthropic's page "Token
 * counting": models since Opus 4.7 count about 30 % more than earlier ones, which are 10 % above `o200k_base` on code.
 */
const FAMILIES: Readonly<Record<string, TokenizerFamily>> = {
  // Lowest 0.98 (the older cl100k_base). Since GPT-4o it is o200k_base itself.
  GPT: { least: 0.96, usual: 1, isCounted: true },
  Claude: { least: 0.8, usual: 1.3 },
  // Lowest 0.59 (emoji) and 0.64 (Japanese).
  Gemini: { least: 0.55, usual: 1.1 },
  // Lowest 0.81 (Japanese).
  Llama: { least: 0.75, usual: 1 },
  // Lowest 0.72 (Japanese).
  Qwen: { least: 0.65, usual: 1 },
  // Lowest 0.71 (Japanese).
  DeepSeek: { least: 0.65, usual: 1.05 },
};

/** Unknown tokenizers, and those that were not measured: the lowest of the others. */
const UNKNOWN: TokenizerFamily = { least: 0.55, usual: 1.1 };

/** Returns the tokenizer family of a model. */
export function findFamily({ tokenizer }: Pick<ModelRecord, "tokenizer">): TokenizerFamily {
  return (tokenizer === null ? undefined : FAMILIES[tokenizer]) ?? UNKNOWN;
}
