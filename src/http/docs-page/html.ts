/** Safe HTML: all text in it is escaped. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | null | readonly (Html | null)[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns HTML from a template. Texts are escaped; HTML and lists of HTML are inserted unchanged; null is omitted. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = strings.map((text, i) => text + (i < parts.length ? print(parts[i] as Part) : "")).join("");
  return { markup };
}

function print(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string" || typeof part === "number") return escapeText(String(part));
  return "markup" in part ? part.markup : part.map(print).join("");
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);
}

/** Returns a text as HTML, with words in backquotes as code. */
export function proseOf(text: string): Html {
  const parts = text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}
