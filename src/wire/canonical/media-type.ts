/** Names that programs use for registered media types, which vendors reject. */
const REGISTERED: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
]);

/** Returns a media type as vendors know it: in lower case, under its registered name, without parameters. */
export function normalizeMediaType(type: string): string {
  const [name = ""] = type.toLowerCase().split(";", 1);
  const bare = name.trim();
  return REGISTERED.get(bare) ?? bare;
}
