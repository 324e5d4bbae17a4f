/** Free models are those whose id says so (specification 1.5). `id` is lower-case, as the catalog has it. */
export function isFreeId(id: string): boolean {
  return id.endsWith(":free");
}
