import { type JsonNode, memberOf, tryStringOf } from "../../base/json/scan.ts";

/** The blank texts that a model accepts: `none`, or `spaces` but no empty texts. */
export type BlankTexts = "none" | "spaces";

/** Returns whether a text is blank for a model that rejects such texts. */
export function isBlank(text: string, rejected: BlankTexts): boolean {
  return text === "" || (rejected === "none" && text.trim() === "");
}

/** Whether scanned content is a blank text, an empty list, or a list with a blank text. `text` is the body, bytes as Latin-1. */
export function holdsBlank(text: string, content: JsonNode | undefined, rejected: BlankTexts): boolean {
  if (content === undefined) return false;
  if (content.kind === "string") return isBlankNode(text, content, rejected);
  return content.items !== null && (content.items.length === 0 || listsBlank(text, content, rejected));
}

/** Whether a scanned list of parts has a blank text. */
export function listsBlank(text: string, list: JsonNode | undefined, rejected: BlankTexts): boolean {
  return list?.items?.some((part) => isBlankNode(text, memberOf(part, "text"), rejected)) === true;
}

const SPACE = 32;
const BACKSLASH = 92;

/** Looks at the first character before it decodes: nearly all texts begin with a word. */
function isBlankNode(text: string, node: JsonNode | undefined, rejected: BlankTexts): boolean {
  if (node?.kind !== "string") return false;
  if (node.end - node.start === 2) return true;
  const first = text.charCodeAt(node.start + 1);
  return (
    rejected === "none" && (first <= SPACE || first === BACKSLASH) && tryStringOf(text, node)?.trim() === ""
  );
}
