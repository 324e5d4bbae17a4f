import { asFields, type Fields } from "../json/fields.ts";
import { isWord, type JsonNode, memberOf, parseNode, stringOf } from "../json/scan.ts";
import { sizeOf } from "./prompt-nodes.ts";
import { readCount, readSearchContext, type SearchContext } from "./usage.ts";

/** What a request may cost beside the tokens of its text and of its answer, as far as the request tells. */
export interface RequestCharges extends RequestMedia {
  /** Null where it does not let the vendor search the web. */
  readonly search: SearchParameters | null;
  /** It lets the vendor run tools that read more than stands in the request, in several rounds. */
  readonly runsTools: boolean;
  /** Models that the one asked for may consult; the vendor charges them at their own prices. */
  readonly advisors: readonly AdvisorRequest[];
}

/** Images and files of a request, those in tools' results too. */
export interface RequestMedia {
  readonly images: number;
  /** Bytes of files, audio and video that stand in the request. */
  readonly fileBytes: number;
  /** The vendor fetches files that the request only names, so nothing tells their size. */
  readonly hasReferences: boolean;
}

/** Leave for the vendor to search the web. */
export interface SearchParameters {
  /** The most searches it allows; null where it sets no bound. */
  readonly most: number | null;
  readonly context: SearchContext | null;
}

/** Leave for the model to consult another one. */
export interface AdvisorRequest {
  /** The model's name at the vendor. */
  readonly model: string;
  /** The most consultations it allows; null where it sets no bound. */
  readonly most: number | null;
}

/** Nothing. */
export const NO_CHARGES: RequestCharges = {
  images: 0,
  fileBytes: 0,
  hasReferences: false,
  search: null,
  runsTools: false,
  advisors: [],
};

/** Counts the images and files of a request. */
export class MediaTally implements RequestMedia {
  images = 0;
  fileBytes = 0;
  hasReferences = false;

  /** `text` is the request's body, `node` the part that holds or names the file. */
  addFile(text: string, node: JsonNode): void {
    const size = sizeOf(node);
    if (size < REFERENCE_BYTES && REFERENCE.test(text.slice(node.start, node.end))) this.hasReferences = true;
    else this.fileBytes += size;
  }
}

/** A part that only names a file is shorter. */
const REFERENCE_BYTES = 8_192;
/** An id of a file at the vendor, or the address of one. */
const REFERENCE = /"file_id"|:\\?\/\\?\//;

/** Tools by which vendors search: `web_search`, `web_search_preview`, `web_search_20250305`, xAI's own. */
const SEARCH_TOOL = /^(?:web_search|x_search|live_search)/;
/** A tool by which the model consults another one: `advisor_20260301`. */
const ADVISOR_TOOL = /^advisor/;
/** Types of tools that the client runs. */
const CLIENT_TOOL =
  /^(?:function$|custom$|namespace$|bash_|text_editor_|computer|memory_|local_shell|apply_patch)/;
/** Fields that switch searching on without a tool: OpenAI's and Perplexity's, and xAI's. */
const SEARCH_FIELDS = ["web_search_options", "search_parameters"] as const;

/** What a request lets the vendor do. `text` is its body, bytes read as Latin-1. */
export function findVendorTools(text: string, root: JsonNode): Omit<RequestCharges, keyof RequestMedia> {
  const searches: Fields[] = [];
  const advisors: AdvisorRequest[] = [];
  let runsTools = false;
  for (const tool of memberOf(root, "tools")?.items ?? []) {
    const node = memberOf(tool, "type");
    // Nearly all are, and this is told without cutting the word out.
    if (node === undefined || isWord(text, node, "function")) continue;
    const type = stringOf(text, node) ?? "";
    if (SEARCH_TOOL.test(type)) searches.push(parseLoosely(text, tool));
    else if (ADVISOR_TOOL.test(type)) advisors.push(readAdvisor(parseLoosely(text, tool)));
    runsTools ||= !CLIENT_TOOL.test(type);
  }
  for (const name of SEARCH_FIELDS) {
    const node = memberOf(root, name);
    const wish = node?.kind === "object" ? parseLoosely(text, node) : null;
    if (wish !== null && wish["mode"] !== "off") searches.push(wish);
  }
  return { search: searches.length === 0 ? null : joinSearches(searches), runsTools, advisors };
}

/** One tool without a bound leaves all of them without. */
function joinSearches(wishes: readonly Fields[]): SearchParameters {
  const bounds = wishes.map((wish) => readCount(wish["max_uses"]) ?? readCount(wish["max_search_results"]));
  const contexts = wishes.map((wish) => readSearchContext(wish["search_context_size"]));
  return {
    most: bounds.includes(null) ? null : bounds.reduce<number>((sum, bound) => sum + (bound ?? 0), 0),
    context: contexts.find((context) => context !== null) ?? null,
  };
}

function readAdvisor({ model, max_uses }: Fields): AdvisorRequest {
  return { model: typeof model === "string" ? model : "", most: readCount(max_uses) };
}

/** What was jumped over may be no JSON; the vendor will say so. */
function parseLoosely(text: string, node: JsonNode): Fields {
  try {
    return asFields(parseNode(text, node)) ?? {};
  } catch {
    return {};
  }
}
