import type { ModelRecord } from "../catalog/records.ts";

/** How a family of tokenizers counts, in tokens for each of `o200k_base`. */
export interface TokenizerFamily {
  /** Less is not to be met, whatever the text: what is over even so is over. */
  readonly least: number;
  /** As prose and code in English usually come out. */
  readonly usual: number;
  /** It is `o200k_base` itself, or counts plain text as that does. */
  readonly isCounted?: true;
}

/**
 * Less is not to be met of plain text with any tokenizer of models of today: `cl100k_base`, on which most open vocabularies
 * are built, makes 0.98 of it at the least, on the samples below. Vocabularies that are not public may merge more.
 */
export const PLAIN_LEAST = 0.93;

/**
 * By `ModelRecord.tokenizer`. Measured with the families' public tokenizers on the samples of
 * test/support/text-samples (17 languages, code, JSON, logs, numbers, emoji, base64): `least` lies below the lowest
 * ratio of any kind, runs of one character left out. Claude is not public: from its older tokenizer's lowest ratio
 * (0.86, numbers), and for `usual` from Anthropic's page "Token counting", by which models since Opus 4.7 count about
 * 30 % more than those before, which are 10 % above `o200k_base` on code.
 */
const FAMILIES: Readonly<Record<string, TokenizerFamily>> = {
  // Lowest 0.98, of the older cl100k_base; since GPT-4o it is this tokenizer itself.
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

/** Not measured, or not known at all: as low as the lowest of the others. */
const UNKNOWN: TokenizerFamily = { least: 0.55, usual: 1.1 };

/** How a model's tokenizer counts. */
export function findFamily({ tokenizer }: Pick<ModelRecord, "tokenizer">): TokenizerFamily {
  return (tokenizer === null ? undefined : FAMILIES[tokenizer]) ?? UNKNOWN;
}
