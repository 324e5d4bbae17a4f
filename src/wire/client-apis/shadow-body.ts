import { allFields, LEAF, memberOf, scanJson } from "../../base/json/scan.ts";
import { applySplices, removeMembers } from "../../base/json/splice.ts";

/** What would lead a copy of a request elsewhere than to its model, or count it for what its caller does. */
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
