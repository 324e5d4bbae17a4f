import { type Html, html } from "./html.ts";

/** A path that may go on in the next line behind each slash. */
export function breakable(path: string): Html {
  const parts = path.split("/").map((part, i) => (i === 0 ? html`${part}` : html`/<wbr>${part}`));
  return html`${parts}`;
}
