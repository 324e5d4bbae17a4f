/** Items of the Responses API as texts. Pure functions. */

/** An item as the API returns it. */
export type Item = Readonly<Record<string, unknown>>;

/** Returns what an item is, such as `message · user`, and its text; of an item that is not only text, all of it as JSON. */
export function describeItem(item: Item): { readonly name: string; readonly body: string } {
  const { type = "message", role, name } = item;
  const named = [type, role ?? name].filter((part) => typeof part === "string").join(" · ");
  return { name: named, body: readText(item) ?? JSON.stringify(item, null, 2) };
}

/** Returns the text of a message that has nothing else; otherwise null. */
function readText({ type = "message", content }: Item): string | null {
  if (type !== "message") return null;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const texts = (content as readonly Item[]).map((part) => part["text"]);
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : null;
}
