/** What is known of a prompt's size. Tokens are those of `o200k_base`, but for `certain`. */
export interface PromptTokens {
  /** It has more than so many, whatever the tokenizer. */
  readonly certain: number;
  readonly atLeast: number;
  readonly atMost: number;
  /** About how many, for people to read. */
  readonly about: number;
  /** How far off `about` may be, as a share of it; 0 where all was counted. */
  readonly error: number;
  /** `about` is a count of all of it, within a twentieth. */
  readonly isExact: boolean;
  /** It is ASCII, as good as all. */
  readonly isPlain: boolean;
}

/**
 * Bytes of a body's text that make a token, at the least, of what people and agents write: 3.2 to 9.2 in 17 languages, 4.2
 * of code, 3.2 of JSON (measured, test/support/text-samples). Data is denser: log lines 2.2, numbers 1.7, base64 1.5. A
 * prompt that is data for the most part and too long is left to the upstream, as counting every long prompt would cost
 * more than such a refusal.
 */
const LEAST_BYTES_PER_TOKEN = 2.5;

/** A prompt of so many characters a token of the window cannot fit, whatever the tokenizer. */
export const CERTAIN_CHARS_PER_TOKEN = 8;

/** How many tokens so many bytes of text have at most, as good as always. */
export function boundByBytes(bytes: number): number {
  return Math.ceil(bytes / LEAST_BYTES_PER_TOKEN);
}

const SAMPLES = 48;
const SAMPLE_BYTES = 256;
/** Texts of so many bytes together are counted whole at once. */
export const SMALL_BYTES = 2 * SAMPLES * SAMPLE_BYTES;

/** How far off a sample may be, at the least. */
const MARGIN = 0.15;
/** Standard errors of a sample's mean that it may be off: texts that change on the way are told less surely. */
const MARGIN_ERRORS = 4;

/** Cuts of the texts, spread evenly over all of them. No character is cut in two. Pure; the cuts are views. */
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

/** Where the character begins that `at` is in the midst of, or the end. */
function toStart(text: Uint8Array, at: number): number {
  let start = Math.min(at, text.length);
  while (start > 0 && ((text[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

/** How many bytes texts have together. */
export function countBytes(texts: readonly Uint8Array[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** A range for a whole of `bytes` bytes, from the counts of its samples. */
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
