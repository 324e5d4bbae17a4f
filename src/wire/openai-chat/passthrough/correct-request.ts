import { tryParseFields } from "../../../base/json/fields.ts";
import { isObjectText } from "../../../base/json/object-text.ts";
import {
  type CountedScan,
  decodeUtf8,
  isWord,
  type JsonNode,
  memberOf,
  type NodeIn,
} from "../../../base/json/scan.ts";
import { appendMember, type Splice } from "../../../base/json/splice.ts";
import { wrapArguments } from "../../canonical/model/object-arguments.ts";
import { correctDataUrl } from "../../conversation/media-types.ts";
import { MAX_NAME_CHARS } from "../traits.ts";
import { type ChatBody, type ChatPart, type ChatTool, MARKS } from "./request-shape.ts";

/** The edits that make a request's tools, calls and images acceptable to all hosts. */
interface Corrections {
  /** After they are applied, nothing is left to correct. */
  readonly splices: readonly Splice[];
  /** The request has tools or calls of type `custom`. */
  readonly hasCustomTools: boolean;
  /** A tool or a call has a name that is longer than chat hosts accept. */
  readonly hasLongNames: boolean;
}

/** The corrections of a request that needs none. */
const NONE: Corrections = { splices: [], hasCustomTools: false, hasLongNames: false };

/**
 * Corrects tools, calls and images that clients of single vendors send and other hosts reject:
 *
 * - tools without `type`, `tool_choice` "any", and a choice of one function without `type` (Mistral's client, TGI's);
 * - tools and choices with the name beside the type, as in Responses, and tools with `input_schema`, as in Messages (Cursor);
 * - arguments that are not a JSON object, as some models write them; missing arguments become `{}`;
 * - an image's URL without the object around it (Mistral's client);
 * - media types of `data:` URLs that are not registered, in capitals or with parameters.
 *
 * All other errors are left to `checkChatRequest`. `text` is the body, bytes as Latin-1; `marks` are those of its scan.
 */
export function correctRequest(
  text: string,
  { root, marks }: Pick<CountedScan<ChatBody>, "root" | "marks">,
): Corrections {
  if ((marks & (MARKS.tools | MARKS.parts)) === 0) return NONE;
  const splices: Splice[] = [];
  let hasCustomTools = false;
  let hasLongNames = false;
  for (const tool of root.fields.tools?.items ?? []) {
    hasCustomTools ||= isWord(text, tool.fields.type, "custom");
    hasLongNames ||= isLong(tool.fields.function?.fields.name);
    if (isFlat(text, tool)) splices.push(nestTool(text, tool));
    else addType(tool, splices);
  }
  correctChoice(text, root.fields.tool_choice, splices);
  for (const message of root.fields.messages?.items ?? []) {
    for (const call of message.fields.tool_calls?.items ?? []) {
      const fn = call.fields.function?.fields;
      hasCustomTools ||= isWord(text, call.fields.type, "custom");
      hasLongNames ||= isLong(fn?.name);
      correctArguments(text, fn?.arguments, splices);
    }
    for (const part of message.fields.content?.items ?? []) correctPart(text, part, splices);
  }
  return { splices, hasCustomTools, hasLongNames };
}

/** Whether a name may be longer than chat hosts accept. Characters that take several bytes count as several. */
function isLong(name: JsonNode | undefined): boolean {
  return name !== undefined && name.end - name.start > MAX_NAME_CHARS + 2;
}

function correctPart(text: string, part: ChatPart, splices: Splice[]): void {
  const image = part.fields.image_url;
  if (image?.kind === "string") splices.push(replace(image, `{"url":${sliceOf(text, image)}}`));
  else correctDataUrl(text, (image ?? part.fields.video_url)?.fields.url, splices);
  correctDataUrl(text, part.fields.file?.fields.file_data, splices);
}

function replace({ start, end }: JsonNode, insert: string): Splice {
  return { start, end, insert };
}

function sliceOf(text: string, { start, end }: JsonNode): string {
  return decodeUtf8(text.slice(start, end));
}

/** A tool or a choice among tools. */
type ToolNode = ChatTool | NodeIn<ChatBody, "tool_choice">;

const FUNCTION = '"function"';

/** Adds the type to a tool or a choice that has a `function` but no type. */
function addType(tool: ToolNode, splices: Splice[]): void {
  const type = tool.fields.type;
  if (tool.fields.function?.kind !== "object") return;
  if (type === undefined) splices.push(appendMember(tool, "type", FUNCTION));
  else if (type.kind === "null") splices.push(replace(type, FUNCTION));
}

function correctChoice(text: string, choice: ChatBody["fields"]["tool_choice"], splices: Splice[]): void {
  if (choice === undefined) return;
  if (isWord(text, choice, "any")) splices.push(replace(choice, '"required"'));
  else if (isFlat(text, choice)) splices.push(nestTool(text, choice));
  else addType(choice, splices);
}

/** Returns whether a tool or a choice has its name next to its type. */
function isFlat(text: string, tool: ToolNode): boolean {
  if (memberOf(tool, "name")?.kind !== "string") return false;
  if (tool.fields.function !== undefined || memberOf(tool, "custom") !== undefined) return false;
  const type = tool.fields.type;
  if (type === undefined) return memberOf(tool, "parameters") !== undefined || isOfMessages(tool);
  return isWord(text, type, "function") || isWord(text, type, "custom");
}

function isOfMessages(tool: JsonNode): boolean {
  return memberOf(tool, "input_schema") !== undefined;
}

/** Members of a flat tool that stay next to its type. */
const OUTER = new Set(["type", "cache_control"]);
/** Names of members in a chat tool, by their names in others. */
const INNER: Readonly<Record<string, string>> = { input_schema: "parameters" };

/** Returns the edit that puts the members of a flat tool into an object of its type. */
function nestTool(text: string, tool: ToolNode): Splice {
  const isCustom = isWord(text, tool.fields.type, "custom") && !isOfMessages(tool);
  const kind = isCustom ? "custom" : "function";
  const [outer, inner]: [string[], string[]] = [[`"type":"${kind}"`], []];
  for (const member of tool.members ?? []) {
    const { key } = member;
    if (key === "type") continue;
    const isFormat = isCustom && key === "format";
    const value = isFormat ? nestFormat(sliceOf(text, member)) : sliceOf(text, member);
    (OUTER.has(key) ? outer : inner).push(`${JSON.stringify(INNER[key] ?? key)}:${value}`);
  }
  return replace(tool, `{${outer.join(",")},"${kind}":{${inner.join(",")}}}`);
}

/** Nests a grammar in an object, as chat tools have it. */
function nestFormat(json: string): string {
  const { type, ...grammar } = tryParseFields(json) ?? {};
  return type === "grammar" && !("grammar" in grammar) ? JSON.stringify({ type, grammar }) : json;
}

function correctArguments(text: string, args: JsonNode | undefined, splices: Splice[]): void {
  if (args?.kind !== "string" || isObjectText(text, args)) return;
  if (args.end - args.start === EMPTY_TEXT.length) {
    splices.push(replace(args, EMPTY_OBJECT));
    return;
  }
  const given = readText(text, args);
  if (given !== null) splices.push(replace(args, JSON.stringify(wrapArguments(given))));
}

const EMPTY_TEXT = '""';
const EMPTY_OBJECT = '"{}"';

/** Returns null for a malformed string; `checkChatRequest` or the upstream reports it. */
function readText(text: string, node: JsonNode): string | null {
  try {
    return JSON.parse(sliceOf(text, node)) as string;
  } catch {
    return null;
  }
}
