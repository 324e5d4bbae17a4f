import { LONGEST_CHAT_NAME } from "../../canonical/flatten-tools.ts";
import { wrapArguments } from "../../canonical/object-arguments.ts";
import { isObjectText } from "../../json/object-text.ts";
import { type CountedScan, decodeUtf8, isWord, itemsOf, type JsonNode, memberOf } from "../../json/scan.ts";
import { appendMember, type Splice } from "../../json/splice.ts";
import { MARKS } from "./request-shape.ts";

/** Edits after which all hosts accept a request's tools, calls and images. */
export interface Corrections {
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
 * - arguments that are not a JSON object, as some models write them; missing arguments become `{}`;
 * - an image's URL without the object around it (Mistral's client).
 *
 * All other errors are left to `checkChatRequest`. `text` is the body, bytes as Latin-1; `marks` are those of its scan.
 */
export function correctRequest(
  text: string,
  { root, marks }: Pick<CountedScan, "root" | "marks">,
): Corrections {
  if ((marks & (MARKS.tools | MARKS.parts)) === 0) return NONE;
  const splices: Splice[] = [];
  let hasCustomTools = false;
  let hasLongNames = false;
  for (const tool of itemsOf(root, "tools")) {
    hasCustomTools ||= isWord(text, memberOf(tool, "type"), "custom");
    hasLongNames ||= isLong(memberOf(memberOf(tool, "function"), "name"));
    addType(tool, splices);
  }
  correctChoice(text, memberOf(root, "tool_choice"), splices);
  for (const message of itemsOf(root, "messages")) {
    for (const call of itemsOf(message, "tool_calls")) {
      const fn = memberOf(call, "function");
      hasCustomTools ||= isWord(text, memberOf(call, "type"), "custom");
      hasLongNames ||= isLong(memberOf(fn, "name"));
      correctArguments(text, memberOf(fn, "arguments"), splices);
    }
    for (const part of itemsOf(message, "content")) {
      const image = memberOf(part, "image_url");
      if (image?.kind === "string") splices.push(replace(image, `{"url":${sliceOf(text, image)}}`));
    }
  }
  return { splices, hasCustomTools, hasLongNames };
}

/** Whether a name may be longer than chat hosts accept. Characters that take several bytes count as several. */
function isLong(name: JsonNode | undefined): boolean {
  return name !== undefined && name.end - name.start > LONGEST_CHAT_NAME + 2;
}

function replace({ start, end }: JsonNode, insert: string): Splice {
  return { start, end, insert };
}

function sliceOf(text: string, { start, end }: JsonNode): string {
  return decodeUtf8(text.slice(start, end));
}

const FUNCTION = '"function"';

/** Adds the type to a tool or a choice that has a `function` but no type. */
function addType(tool: JsonNode, splices: Splice[]): void {
  const type = memberOf(tool, "type");
  if (memberOf(tool, "function")?.kind !== "object") return;
  if (type === undefined) splices.push(appendMember(tool, "type", FUNCTION));
  else if (type.kind === "null") splices.push(replace(type, FUNCTION));
}

function correctChoice(text: string, choice: JsonNode | undefined, splices: Splice[]): void {
  if (choice === undefined) return;
  if (isWord(text, choice, "any")) splices.push(replace(choice, '"required"'));
  else addType(choice, splices);
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
