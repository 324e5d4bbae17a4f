/** Which settings refer to a secret. Pure functions. */

/** Returns the paths of the values of a document that refer to a secret. */
export function listUsers(
  document: unknown,
  secretId: string,
  path: readonly string[] = [],
): readonly string[] {
  if (typeof document === "string")
    return document.includes(`\${secret:${secretId}}`) ? [path.join(".")] : [];
  if (typeof document !== "object" || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) => listUsers(value, secretId, [...path, name]));
}
