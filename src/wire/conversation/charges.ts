import { asFields, type Fields } from "../json/fields.ts";
import { isWord, type JsonNode, memberOf, parseNode, stringOf } from "../json/scan.ts";
import { readCount, readSearchContext, type SearchContext } from "./usage.ts";

/** What may be charged for a request beside its tokens, as far as the request tells. */
export interface RequestCharges {
  /** In the prompt, those in tools' results too. */
  readonly images: number;
  /** Null where it does not let the vendor search the web. */
  readonly search: SearchWish | null;
}

/** Leave for the vendor to search the web. */
export interface SearchWish {
  /** The most searches it allows; null where it sets no bound. */
  readonly most: number | null;
  readonly context: SearchContext | null;
}

/** Nothing. */
export const NO_CHARGES: RequestCharges = { images: 0, search: null };

/** Tools by which vendors search: `web_search`, `web_search_preview`, `web_search_20250305`, xAI's own. */
const SEARCH_TOOL = /^(?:web_search|x_search|live_search)/;
/** Fields that switch searching on without a tool: OpenAI's and Perplexity's, and xAI's. */
const SEARCH_FIELDS = ["web_search_options", "search_parameters"] as const;

/** Whether and how a request lets the vendor search the web. `text` is its body, bytes read as Latin-1. */
export function findSearchWish(text: string, root: JsonNode): SearchWish | null {
  const wishes: Fields[] = [];
  for (const tool of memberOf(root, "tools")?.items ?? []) {
    const type = memberOf(tool, "type");
    // Nearly all are, and this is told without cutting the word out.
    if (isWord(text, type, "function")) continue;
    if (SEARCH_TOOL.test(stringOf(text, type) ?? "")) wishes.push(parseLoosely(text, tool));
  }
  for (const name of SEARCH_FIELDS) {
    const node = memberOf(root, name);
    const wish = node?.kind === "object" ? parseLoosely(text, node) : null;
    if (wish !== null && wish["mode"] !== "off") wishes.push(wish);
  }
  return wishes.length === 0 ? null : joinWishes(wishes);
}

/** One tool without a bound leaves all of them without. */
function joinWishes(wishes: readonly Fields[]): SearchWish {
  const bounds = wishes.map((wish) => readCount(wish["max_uses"]) ?? readCount(wish["max_search_results"]));
  const contexts = wishes.map((wish) => readSearchContext(wish["search_context_size"]));
  return {
    most: bounds.includes(null) ? null : bounds.reduce<number>((sum, bound) => sum + (bound ?? 0), 0),
    context: contexts.find((context) => context !== null) ?? null,
  };
}

/** What was jumped over may be no JSON; the vendor will say so. */
function parseLoosely(text: string, node: JsonNode): Fields {
  try {
    return asFields(parseNode(text, node)) ?? {};
  } catch {
    return {};
  }
}
