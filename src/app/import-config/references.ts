/** Writes values of another gateway's configuration as values of this one. */
export class References {
  /** Environment variables that the written configuration refers to. */
  readonly names = new Set<string>();

  /** @param given values of variables that the other configuration sets by itself. */
  constructor(private readonly given: Readonly<Record<string, unknown>> = {}) {}

  /** Returns the text for a value; `os.environ/NAME` becomes a reference. Undefined for what is not a text or a number. */
  read(value: unknown): string | undefined {
    if (typeof value === "number") return String(value);
    if (typeof value !== "string" || value.trim() === "") return undefined;
    const name = /^os\.environ\/([A-Za-z_]\w*)$/.exec(value.trim())?.[1];
    if (name === undefined) return escapeText(value.trim());
    const given = Object.hasOwn(this.given, name) ? this.given[name] : undefined;
    if (typeof given === "string" && given !== "" && !given.startsWith("os.environ/"))
      return escapeText(given);
    this.names.add(name);
    return `\${${name}}`;
  }
}

function escapeText(text: string): string {
  return text.replaceAll("${", () => "$${");
}
