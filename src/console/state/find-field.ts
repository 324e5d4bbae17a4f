/** Returns which of the fields an error is about: the one that it names, or whose part it names. */
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
