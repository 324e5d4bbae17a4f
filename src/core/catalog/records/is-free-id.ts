/** Whether a model is free by its id. `id` is lower-case, as in the catalog. */
export function isFreeId(id: string): boolean {
  return id.endsWith(":free");
}
