/**
 * Returns a text in memory of its own. The runtime makes a part of a text as a reference to the whole, which would stay in memory as
 * long as the part.
 */
export function ownText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
