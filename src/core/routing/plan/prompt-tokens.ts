/** The measured or estimated size of a prompt, in tokens of `o200k_base` except for `certain`. */
export interface PromptTokens {
  /** A lower bound for every tokenizer. */
  readonly certain: number;
  readonly atLeast: number;
  readonly atMost: number;
  /** The best estimate. */
  readonly about: number;
  /** The relative error of `about`; 0 if all was counted. */
  readonly error: number;
  /** `about` is a count of the whole prompt, within five per cent. */
  readonly isExact: boolean;
  /** The prompt is almost entirely ASCII. */
  readonly isPlain: boolean;
}

/**
 * A lower bound of bytes per token for text of people and agents. Measured (test/support/clients/text-samples): 3.2 to 9.2 in 17
 * languages, 4.2 for code, 3.2 for JSON. Data is denser: log lines 2.2, numbers 1.7, base64 1.5. A prompt that consists
 * mostly of data and is too long is rejected by the upstream, because counting every long prompt would cost more.
 */
const MIN_BYTES_PER_TOKEN = 2.5;

/** A prompt with more characters than this per token of the context window does not fit with any tokenizer. */
export const CERTAIN_CHARS_PER_TOKEN = 8;

/** Returns the maximum number of tokens that almost all texts of this size have. `bytes`: the size. */
export function boundByBytes(bytes: number): number {
  return Math.ceil(bytes / MIN_BYTES_PER_TOKEN);
}

const SAMPLES = 48;
const SAMPLE_BYTES = 256;
/** Texts with fewer bytes in total are counted as a whole instead of sampled. */
export const SMALL_BYTES = 2 * SAMPLES * SAMPLE_BYTES;

/** The minimum relative margin of an estimate. */
const MARGIN = 0.15;
/** The margin of an estimate in standard errors of the samples' mean, which are larger for heterogeneous texts. */
const MARGIN_ERRORS = 4;

/** Returns samples spread evenly over the texts, as views. No character is cut in two. Pure. */
export function sampleTexts(texts: readonly Uint8Array[]): Uint8Array[] {
  const step = countBytes(texts) / SAMPLES;
  const samples: Uint8Array[] = [];
  let passed = 0;
  let next = step / 2;
  for (const text of texts) {
    for (; next < passed + text.length; next += step) {
      const start = Math.max(0, Math.min(Math.floor(next - passed), text.length - SAMPLE_BYTES));
      const sample = text.subarray(toStart(text, start), toStart(text, start + SAMPLE_BYTES));
      if (sample.length > 0) samples.push(sample);
    }
    passed += text.length;
  }
  return samples;
}

/** Returns the start of the character that contains position `at`, or the end of the text. */
function toStart(text: Uint8Array, at: number): number {
  let start = Math.min(at, text.length);
  while (start > 0 && ((text[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

/** Returns the total number of bytes of some texts. */
export function countBytes(texts: readonly Uint8Array[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** Estimates the tokens of a text of `bytes` bytes from the token counts of its samples. */
export function projectSamples(
  samples: readonly Uint8Array[],
  counts: readonly number[],
  bytes: number,
): Pick<PromptTokens, "atLeast" | "atMost" | "about" | "error"> {
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  const density = tokens / countBytes(samples);
  const spread = samples.reduce(
    (sum, { length }, at) => sum + ((counts[at] ?? 0) / length - density) ** 2,
    0,
  );
  const error = (MARGIN_ERRORS * Math.sqrt(spread)) / samples.length / density;
  const margin = Math.max(MARGIN, error);
  const about = density * bytes;
  return { about, error, atLeast: about * Math.max(0, 1 - margin), atMost: about * (1 + margin) };
}
