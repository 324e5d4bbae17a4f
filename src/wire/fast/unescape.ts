// Replaces `stringOf` of wire/json/scan.ts, and appends the same in UTF-8.
import type { ByteOutput } from "../../base/text/byte-output.ts";
import { BACKSLASH, type JsonNode, stringViewOf } from "../json/scan.ts";

/** A JSON string in a body: its bytes, the same as Latin-1, and the string. */
interface JsonString {
  readonly bytes: Buffer;
  readonly text: string;
  readonly node: JsonNode;
}

/**
 * Appends the value of a JSON string in UTF-8, without making a string of it.
 * @throws JsonSyntaxError on a malformed escape.
 */
export function appendUnescaped(output: ByteOutput, string: JsonString): void {
  const { start, end } = string.node;
  // No value is longer than its JSON.
  output.appendWritten(end - start, writeUnescaped, string);
}

function writeUnescaped(memory: Buffer, from: number, { bytes, text, node }: JsonString): number {
  const end = node.end - 1;
  let to = from;
  for (let at = node.start + 1; at < end; at++) {
    const code = bytes[at] as number;
    if (code !== BACKSLASH && code >= SPACE) {
      memory[to++] = code;
      continue;
    }
    const escaped = code === BACKSLASH ? (ESCAPES[bytes[++at] as number] as number) : 0;
    // Anything else is rare: the runtime decodes it, or finds what is wrong.
    if (escaped === 0) return from + memory.write(stringViewOf(text, node) ?? "", from);
    memory[to++] = escaped;
  }
  return to;
}

const SPACE = 32;

/** What the character after a backslash stands for; 0 for all others. */
const ESCAPES = new Uint8Array(256);
for (const [letter, value] of Object.entries({
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}))
  ESCAPES[letter.charCodeAt(0)] = value.charCodeAt(0);
