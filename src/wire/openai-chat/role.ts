import { isWord, type JsonNode, memberOf } from "../json/scan.ts";

/** Who may speak in a conversation (specification 2.2; `developer` is OpenAI's newer word for `system`). */
export type Role = "system" | "developer" | "user" | "assistant" | "tool";

/** A message's role; undefined for anything else. Told by its first letter, so that one comparison settles it. */
export function readRole(text: string, message: JsonNode): Role | undefined {
  const node = memberOf(message, "role");
  if (node === undefined) return undefined;
  const role = BY_FIRST_LETTER[text.charAt(node.start + 1)];
  return role !== undefined && isWord(text, node, role) ? role : undefined;
}

const BY_FIRST_LETTER: Readonly<Record<string, Role>> = {
  a: "assistant",
  d: "developer",
  s: "system",
  t: "tool",
  u: "user",
};
