/** Returns the field that an error is about: the named one, or the one whose part is named. */
export function findField(
  { field }: { readonly field: string | null },
  fields: readonly string[],
): string | null {
  if (field === null) return null;
  return (
    fields.find((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`)) ??
    null
  );
}
