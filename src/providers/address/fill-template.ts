const BRACES = /\{([^}]*)\}/g;

/** Values by their names in a template. */
export type TemplateParts = Readonly<Record<string, string>>;

/** Replaces the names in braces with their encoded values. Names without a value stay. */
export function fillTemplate(
  template: string,
  parts: TemplateParts,
  encode: (value: string) => string = (value) => value,
): string {
  return template.replace(BRACES, (braces, name: string) =>
    Object.hasOwn(parts, name) ? encode(parts[name] as string) : braces,
  );
}

/** Lists the names in braces. */
export function listParts(template: string): string[] {
  return [...template.matchAll(BRACES)].map(([, name]) => name as string);
}
