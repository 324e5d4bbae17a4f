/** The longest phrase. Characters. */
export const MAX_PHRASE_CHARS = 256;

/** The length of the pieces in which a text is normalized, because normalizing can make it several times longer. Characters. */
const SLICE_CHARS = 64 * 1024;
const BETWEEN_WORDS = /[^\p{L}\p{N}]+/gu;
const INVISIBLE = /[\p{Cf}\p{Mn}]+/gu;

/** Returns a text in lower case, its words separated by single spaces, without accents, punctuation and invisible characters. */
function normalizeWords(text: string): string {
  return text.normalize("NFKD").replace(INVISIBLE, "").toLowerCase().replace(BETWEEN_WORDS, " ");
}

/**
 * Returns whether a text contains one of the phrases (`toSearchedPhrase`) as whole words, however it is capitalized, spaced and punctuated. `pause` is
 * awaited after each slice of a long text, so that other requests are served meanwhile.
 */
export async function containsPhrase(
  text: string,
  phrases: readonly string[],
  pause: () => Promise<void>,
): Promise<boolean> {
  let rest = " ";
  for (let at = 0; at < text.length; at += SLICE_CHARS) {
    const isLast = at + SLICE_CHARS >= text.length;
    const words = (rest + normalizeWords(text.slice(at, at + SLICE_CHARS)) + (isLast ? " " : "")).replace(
      DOUBLE_SPACE,
      " ",
    );
    if (phrases.some((phrase) => words.includes(phrase))) return true;
    rest = words.slice(-2 * MAX_PHRASE_CHARS);
    if (!isLast) await pause();
  }
  return false;
}

const DOUBLE_SPACE = / {2,}/g;

/** Returns a phrase as texts are searched for it (`containsPhrase`). Scripts without spaces have no borders of words. */
export function toSearchedPhrase(phrase: string): string {
  const words = normalizeWords(phrase).trim();
  return HAS_NO_SPACES.test(words) ? words : ` ${words} `;
}

const HAS_NO_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
