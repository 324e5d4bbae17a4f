/** A part of the documents that a search can find. */
export interface Searchable {
  /** The URL path without its first slash, with the anchor. */
  readonly url: string;
  /** The title of the page. */
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

/** A found part, with the text around the first found word. */
export interface Match {
  readonly url: string;
  readonly page: string;
  readonly title: string;
  readonly excerpt: string;
}

/** Anyone may search, so these bound the work of a search to a few milliseconds. */
const MAX_QUERY_CHARS = 200;
const MAX_WORDS = 5;
const MAX_MATCHES = 40;
/** Characters of an excerpt, before and after the first found word. */
const EXCERPT = { before: 60, after: 140 };

/** A part with what a search compares. */
interface Prepared extends Searchable {
  readonly lowerTitle: string;
  readonly lowerPage: string;
  readonly lowerText: string;
}

/**
 * Returns a function that finds the parts which contain all words of a query, without regard to case. Parts whose titles contain them
 * come first.
 */
export function createSearch(parts: readonly Searchable[]): (query: string) => readonly Match[] {
  const prepared = parts.map(prepare);
  return (query) => {
    const words = splitQuery(query);
    if (words.length === 0) return [];
    return prepared
      .map((part) => ({ part, score: scoreOf(part, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, MAX_MATCHES)
      .map(({ part }) => present(part, words));
  };
}

function prepare(part: Searchable): Prepared {
  return {
    ...part,
    lowerTitle: part.title.toLowerCase(),
    lowerPage: part.page.toLowerCase(),
    lowerText: part.text.toLowerCase(),
  };
}

function splitQuery(query: string): readonly string[] {
  const words = query.slice(0, MAX_QUERY_CHARS).toLowerCase().split(/\s+/).filter(Boolean);
  return words.slice(0, MAX_WORDS);
}

/** Returns 0 if a word is missing. A word counts most in the title of the part, then in that of the page. */
function scoreOf({ lowerTitle, lowerPage, lowerText }: Prepared, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    if (lowerTitle.includes(word)) score += 10;
    else if (lowerPage.includes(word)) score += 4;
    else if (lowerText.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

function present({ url, page, title, text, lowerText }: Prepared, words: readonly string[]): Match {
  const found = words.map((word) => lowerText.indexOf(word)).filter((at) => at >= 0);
  const at = found.length === 0 ? 0 : Math.min(...found);
  const from = at <= EXCERPT.before ? 0 : text.indexOf(" ", at - EXCERPT.before) + 1;
  const to = at + EXCERPT.after;
  const excerpt = `${from > 0 ? "… " : ""}${text.slice(from, to).trim()}${to < text.length ? " …" : ""}`;
  return { url, page, title, excerpt };
}
