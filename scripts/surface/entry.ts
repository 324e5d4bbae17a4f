/** One promise of the public surface: what it is about, from the whole to the part, and what is promised of it. */
export interface Entry {
  readonly path: readonly string[];
  readonly value: string;
}

/** What stands between the parts of a path. */
const SEPARATOR = " > ";

/** Returns the line of an entry. */
export function formatEntry({ path, value }: Entry): string {
  const subject = path.join(SEPARATOR);
  return value === "" ? subject : `${subject}: ${value}`;
}

/** Returns the path of a line, without what is promised of it. */
export function pathOf(line: string): readonly string[] {
  const end = line.indexOf(": ");
  return (end < 0 ? line : line.slice(0, end)).split(SEPARATOR);
}
