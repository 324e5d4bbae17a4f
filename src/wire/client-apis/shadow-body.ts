import { allFields, LEAF, memberOf, scanJson } from "../../base/json/scan.ts";
import { applySplices, removeMembers } from "../../base/json/splice.ts";

/** Fields that would route a copy of a request to another model, or count it in the caller's usage. */
const LEFT_OUT: ReadonlySet<string> = new Set(["models", "preset", "provider", "tags"]);

/** Returns a copy of a request's body for another model, without fallbacks, provider preferences and tags. The body must have been parsed. */
export function printShadowBody(bytes: Uint8Array, model: string): Buffer {
  const body = Buffer.from(bytes);
  const text = body.toString("latin1");
  const root = scanJson(text, allFields({ messages: LEAF }));
  const node = memberOf(root, "model");
  if (node === undefined) throw new Error("the body has no model");
  return applySplices(body, [
    { start: node.start, end: node.end, insert: JSON.stringify(model) },
    ...removeMembers(text, root, LEFT_OUT),
  ]);
}
