import { type Html, html } from "./html.ts";

/** Returns a path that can wrap to the next line after each slash. */
export function breakable(path: string): Html {
  const parts = path.split("/").map((part, i) => (i === 0 ? html`${part}` : html`/<wbr>${part}`));
  return html`${parts}`;
}
