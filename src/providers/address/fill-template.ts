const BRACES = /\{([^}]*)\}/g;

/** Parts by their name in braces. */
export type Parts = Readonly<Record<string, string>>;

/** The template with its parts filled in, each by `encode`. A part that is not there stays in its braces. */
export function fillTemplate(
  template: string,
  parts: Parts,
  encode: (value: string) => string = (value) => value,
): string {
  return template.replace(BRACES, (braces, name: string) =>
    Object.hasOwn(parts, name) ? encode(parts[name] as string) : braces,
  );
}

/** The names that stand in braces. */
export function listParts(template: string): string[] {
  return [...template.matchAll(BRACES)].map(([, name]) => name as string);
}
