import { asFields, asObjects, type Fields, setField } from "../../base/json/fields.ts";
import {
  type FieldsNode,
  type ItemsNode,
  isWord,
  type JsonNode,
  LEAF,
  parseNode,
  type Shape,
  stringOf,
  tryParseNode,
  tryStringOf,
} from "../../base/json/scan.ts";
import { sizeOf } from "./prompt-nodes.ts";
import {
  readCount,
  readModes,
  readSearchContext,
  type SearchContext,
  type ServedModes,
  type UnitCounts,
} from "./usage.ts";

/** The possible charges of a request besides its tokens, as far as the request shows them. */
export interface RequestCharges extends RequestMedia {
  /** Null if the vendor may not search the web. */
  readonly search: SearchParameters | null;
  /** The vendor may run tools that add input tokens over several rounds. */
  readonly runsTools: boolean;
  /** Models that the requested one may consult; the vendor charges them at their own prices. */
  readonly advisors: readonly AdvisorRequest[];
  /** Values that may change the price of the whole request, by field; absent: none. */
  readonly modes?: ServedModes | undefined;
  /**
   * Services for which some provider charges separately: fields, entries of fields (`plugins.web`) and tools (`tools.web_search`). Absent:
   * none.
   */
  readonly services?: readonly string[] | undefined;
  /** Maximum units that are not tokens, and maximum searches of a rerank request; absent if there are none. */
  readonly units?: UnitCounts & { readonly searches?: number };
}

/** The images and files of a request, including those in tool results. */
interface RequestMedia {
  readonly images: number;
  /** Bytes of inline files, audio and video. */
  readonly fileBytes: number;
  /** The vendor fetches files that the request refers to, so that their size is unknown. */
  readonly hasReferences: boolean;
}

/** Permission for the vendor to search the web. */
interface SearchParameters {
  /** The maximum number of searches; null: no limit. */
  readonly most: number | null;
  readonly context: SearchContext | null;
}

/** Permission for the model to consult another model. */
interface AdvisorRequest {
  /** The model's name at the vendor. */
  readonly model: string;
  /** The maximum number of consultations; null: no limit. */
  readonly most: number | null;
}

/** The charges of a request that is charged for its tokens only. */
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

  /** Counts a file. `text` is the request's body, `node` the part that holds or names the file. */
  addFile(text: string, node: JsonNode): void {
    const size = sizeOf(node);
    if (size < REFERENCE_BYTES && isReference(text, node)) this.hasReferences = true;
    else this.fileBytes += size;
  }
}

/** Shorter parts only refer to a file. */
const REFERENCE_BYTES = 8_192;
/** A file id at the vendor, or a URL. */
const REFERENCE = /"file_id"|:\/\//;

function isReference(text: string, node: JsonNode): boolean {
  const part = text.slice(node.start, node.end);
  // Any character of a name or an address may be escaped.
  return REFERENCE.test(part.includes("\\") ? (JSON.stringify(tryParseNode(text, node)) ?? part) : part);
}

/** Web search tools: `web_search`, `web_search_preview`, `web_search_20250305`, and xAI's own. */
const SEARCH_TOOL = /^(?:web_search|x_search|live_search)/;
/** A tool with which the model consults another model: `advisor_20260301`. */
const ADVISOR_TOOL = /^advisor/;
/** Types of tools that the client runs. */
const CLIENT_TOOL =
  /^(?:function$|custom$|namespace$|bash_|text_editor_|computer|memory_|local_shell|apply_patch)/;
/** Fields that enable searching without a tool: OpenAI's and Perplexity's, and xAI's. */
const SEARCH_FIELDS = ["web_search_options", "search_parameters"] as const;
/** The id of OpenRouter's search plugin. */
const SEARCH_PLUGIN = "web";
const MODE_FIELDS = ["service_tier", "speed", "inference_geo"] as const;

/** The members of a request's shape that decide its charges, besides `tools`. */
export const CHARGED_MEMBERS = {
  web_search_options: LEAF,
  search_parameters: LEAF,
  /** OpenRouter's. */
  plugins: LEAF,
  service_tier: LEAF,
  speed: LEAF,
  inference_geo: LEAF,
};

/** The members of a scanned request. */
type ChargedFields = FieldsNode<
  typeof CHARGED_MEMBERS & {
    readonly tools: Shape<ItemsNode<FieldsNode<{ readonly type: Shape }>>>;
  }
>["fields"];

/** Returns the media of a request and what it permits the vendor to do. `text` is its body, bytes as Latin-1. */
export function addVendorTools(
  { images, fileBytes, hasReferences }: RequestMedia,
  text: string,
  { fields }: { readonly fields: ChargedFields },
): RequestCharges {
  const { search, runsTools, advisors, services } = mayUseTools(fields)
    ? findVendorTools(text, fields)
    : NO_CHARGES;
  const modes = findModes(text, fields);
  const isNothing = images + fileBytes === 0 && !hasReferences && !runsTools && search === null;
  if (isNothing && advisors.length === 0 && modes === undefined && services === undefined) return NO_CHARGES;
  return { images, fileBytes, hasReferences, search, runsTools, advisors, modes, services };
}

/** Returns the modes that a request asks for. */
function findModes(text: string, fields: ChargedFields): ServedModes | undefined {
  let asked: Record<string, unknown> | undefined;
  for (const name of MODE_FIELDS) {
    const node = fields[name];
    if (node?.kind !== "string") continue;
    asked ??= {};
    setField(asked, name, tryStringOf(text, node));
  }
  return asked === undefined ? undefined : readModes(asked);
}

function mayUseTools({ tools, web_search_options, search_parameters, plugins }: ChargedFields): boolean {
  return Boolean(tools?.items?.length || web_search_options || search_parameters || plugins);
}

function findVendorTools(text: string, fields: ChargedFields): Omit<RequestCharges, keyof RequestMedia> {
  const searches: Fields[] = [];
  const advisors: AdvisorRequest[] = [];
  const services: string[] = [];
  let runsTools = false;
  for (const tool of fields.tools?.items ?? []) {
    const node = tool.fields.type;
    // Nearly all tools are of these types, and this check does not copy the string.
    if (node === undefined || isWord(text, node, "function")) continue;
    const type = stringOf(text, node) ?? "";
    if (SEARCH_TOOL.test(type)) searches.push(parseLoosely(text, tool));
    else if (ADVISOR_TOOL.test(type)) advisors.push(readAdvisor(parseLoosely(text, tool)));
    if (CLIENT_TOOL.test(type)) continue;
    runsTools = true;
    services.push(`tools.${type}`);
  }
  for (const name of SEARCH_FIELDS) {
    const node = fields[name];
    const search = node?.kind === "object" ? parseLoosely(text, node) : null;
    if (search === null || search["mode"] === "off") continue;
    searches.push(search);
    services.push(name);
  }
  for (const plugin of asObjects(fields.plugins && tryParseNode(text, fields.plugins))) {
    services.push(`plugins.${plugin["id"]}`);
    if (plugin["id"] === SEARCH_PLUGIN) searches.push({ max_uses: 1 });
  }
  return {
    search: searches.length === 0 ? null : joinSearches(searches),
    runsTools,
    advisors,
    services: services.length === 0 ? undefined : services,
  };
}

/** Adds limits; one tool without a limit makes the total unlimited. */
function joinSearches(searches: readonly Fields[]): SearchParameters {
  const bounds = searches.map(
    (search) => readCount(search["max_uses"]) ?? readCount(search["max_search_results"]),
  );
  const contexts = searches.map((search) => readSearchContext(search["search_context_size"]));
  return {
    most: bounds.includes(null) ? null : bounds.reduce<number>((sum, bound) => sum + (bound ?? 0), 0),
    context: contexts.find((context) => context !== null) ?? null,
  };
}

function readAdvisor({ model, max_uses }: Fields): AdvisorRequest {
  return { model: typeof model === "string" ? model : "", most: readCount(max_uses) };
}

/** Parses an object that the scan skipped; {} if it is malformed, which the vendor reports. */
function parseLoosely(text: string, node: JsonNode): Fields {
  try {
    return asFields(parseNode(text, node)) ?? {};
  } catch {
    return {};
  }
}
