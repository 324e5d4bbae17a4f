/**
 * The end of an id that names a release of a model and not another model: a day (`-20250929`, `-2024-08-06`), a month (`-2506`,
 * `-08-2024`), or `-latest`.
 */
const RELEASE = /-(?:20\d\d-?\d\d-?\d\d|\d\d-20\d\d|\d{4}|latest)$/;

/**
 * Removes the release from an id: `anthropic/claude-sonnet-4-5` for `anthropic/claude-sonnet-4-5-20250929`. The result is in the spelling
 * with hyphens and keeps a variant such as `:free`. Null if the id names no release.
 */
export function undatedId(id: string): string | null {
  const [name = "", variant] = id.toLowerCase().split(":", 2);
  const undated = name.replace(RELEASE, "");
  if (undated === name) return null;
  return hyphenate(variant === undefined ? undated : `${undated}:${variant}`);
}

/** Returns a name or pattern in the spelling with hyphens: `claude-sonnet-4-5` of `claude-sonnet-4.5`. */
export function hyphenate(name: string): string {
  return name.replaceAll(".", "-");
}
