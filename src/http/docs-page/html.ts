/** Markup that is ready: what is put into it as text was escaped. */
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

/** A template of markup. Texts in it are escaped, markup and lists of it stay, null is left out. */
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

/** A text with words in backquotes as code. */
export function proseOf(text: string): Html {
  const parts = text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}
