/** An option of a combobox. */
export interface Option {
  readonly value: string;
  readonly label: string;
  /** A second text, such as an id or a group. */
  readonly detail?: string;
}

/** The maximum number of options that are shown at a time. */
const MAX_OPTIONS = 50;

/** Returns the options that contain all words of a text, those that begin with the text first. */
export function filterOptions(options: readonly Option[], typed: string): readonly Option[] {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return options.slice(0, MAX_OPTIONS);
  const found = options.filter(({ label, value, detail = "" }) => {
    const text = `${label} ${value} ${detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const first = words[0] as string;
  const rank = ({ label }: Option) => (label.toLowerCase().startsWith(first) ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_OPTIONS);
}
