import { randomUUID } from "node:crypto";

/**
 * Writes values of another gateway's configuration as values of this one. Texts are literals, whatever they contain. Only references that
 * `read` has created become references.
 */
export class References {
  /** Encloses the names of references until the configuration is written. No file can contain it. */
  private readonly mark = `\u{f8ff}${randomUUID()}`;
  /** Environment variables that the written configuration refers to. */
  readonly names = new Set<string>();
  /** Variables whose values the other configuration itself sets, and which something refers to. */
  readonly given = new Set<string>();

  /** @param values values of variables that the other configuration itself sets. */
  constructor(private readonly values: Readonly<Record<string, unknown>> = {}) {}

  /** Returns the text for a value; `os.environ/NAME` becomes a reference. Undefined for what is not a text or a number. */
  read(value: unknown): string | undefined {
    if (typeof value === "number") return String(value);
    if (typeof value !== "string" || value.trim() === "") return undefined;
    const name = /^os\.environ\/([A-Za-z_]\w*)$/.exec(value.trim())?.[1];
    if (name === undefined) return value.trim();
    const given = Object.hasOwn(this.values, name) ? this.values[name] : undefined;
    if (typeof given === "string" && given !== "" && !given.startsWith("os.environ/")) {
      this.given.add(name);
      return given;
    }
    this.names.add(name);
    return `${this.mark}${name}${this.mark}`;
  }

  /** Returns the variable that a text begins with a reference to; null for any other text. */
  nameAt(text: string): string | null {
    return text.startsWith(this.mark) ? (text.split(this.mark)[1] ?? null) : null;
  }

  /** Returns a configuration in its written form: references in their syntax, and all other texts escaped so that they are literals. */
  write(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return this.writeValue(value) as Readonly<Record<string, unknown>>;
  }

  private writeValue(value: unknown): unknown {
    if (typeof value === "string") return this.writeText(value);
    if (Array.isArray(value)) return value.map((one) => this.writeValue(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.writeValue(member)]));
  }

  private writeText(text: string): string {
    const parts = text.split(this.mark);
    return parts.map((part, index) => (index % 2 === 0 ? escapeText(part) : `\${${part}}`)).join("");
  }
}

function escapeText(text: string): string {
  return text.replaceAll("${", () => "$${");
}
