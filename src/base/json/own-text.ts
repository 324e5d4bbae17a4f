/**
 * Returns a copy of a text in its own memory. The runtime represents a substring as a reference to the whole text, which would stay in
 * memory as long as the substring.
 */
export function ownText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
