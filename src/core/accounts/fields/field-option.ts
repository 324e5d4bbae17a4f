/** The option by which commands set a field. Help texts and error messages derive from it. */
export interface FieldOption extends OptionTexts, OptionFormat {}

/** The help texts of an option. */
export interface OptionTexts {
  /** The flag and the placeholder of its value: `--spend-limit <dollars>`. */
  readonly flags: string;
  /** A phrase without a full stop: "Total spending limit in US dollars". */
  readonly help: string;
  /** The value that `none` sets; absent if the field cannot be unset. */
  readonly none?: string;
  /** The default in a new resource, if it differs from the value of `none`. */
  readonly initial?: string;
}

/** How the value of an option is written. */
interface OptionFormat {
  /** Completes "must be": "an amount in US dollars, such as 2.50". */
  readonly expected: string;
  /**
   * Returns the value of the field in a request body; undefined if the text has another format. The request schema checks the
   * value. `now` is in milliseconds since the epoch.
   */
  parse(this: void, text: string, now: number): unknown;
}

/** Returns a format in which `none` means a value, by default null. */
function orNone({ expected, parse }: OptionFormat, none: unknown = null): OptionFormat {
  return {
    expected: `${expected}, or none`,
    parse: (text, now) => (text === "none" ? none : parse(text, now)),
  };
}

function parseCount(text: string): number | undefined {
  return /^\d{1,13}$/.test(text) ? Number(text) : undefined;
}

/** Accepts any text. */
const TEXT = { parse: (text: string) => text };

/** A display name. */
export const NAME_FORMAT: OptionFormat = { ...TEXT, expected: "a text of 1 to 200 characters" };

/** The name of a plan, or none. */
export const PLAN_FORMAT = orNone({ ...TEXT, expected: "a plan's name, such as pro" });

/** An e-mail address, or none. */
export const EMAIL_FORMAT = orNone({ ...TEXT, expected: "an e-mail address, such as ada@example.com" });

/** The operator's own id of something, or none. */
export const EXTERNAL_ID_FORMAT = orNone({ ...TEXT, expected: "an id of 1 to 200 characters" });

/** An amount of US dollars, or none. */
export const DOLLARS_FORMAT = orNone({
  expected: "an amount in US dollars, such as 2.50",
  parse: (text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined),
});

/** A whole number. */
export const INDEX_FORMAT: OptionFormat = { expected: "a whole number of 0 or more", parse: parseCount };

/** A whole number of 0 or more, or none. */
export const INDEX_OR_NONE_FORMAT = orNone(INDEX_FORMAT);

/** A whole number, or none. */
export const COUNT_FORMAT = orNone({ expected: "a whole number of at least 1", parse: parseCount });

/** A number of seconds, or none. */
export function secondsFormat(max: number): OptionFormat {
  return orNone({ expected: `1 to ${max} seconds`, parse: parseCount });
}

const LIST: OptionFormat = {
  expected: "a comma-separated list, such as openai/*,*:free",
  parse: (text) => text.split(",").map((item) => item.trim()),
};

/** A comma-separated list, or none for null. */
export const LIST_FORMAT = orNone(LIST);

/** A comma-separated list of tags, or none for null. */
export const TAGS_FORMAT = orNone({ ...LIST, expected: "a comma-separated list, such as team:search" });

/** A comma-separated list, or none for an empty one. */
export const DENY_LIST_FORMAT = orNone(LIST, []);

/** A time in the future, or none. */
export const EXPIRY_FORMAT = orNone({
  expected: "a time in the future, such as 2027-01-31",
  parse(text, now) {
    const expiresAt = Date.parse(text);
    return expiresAt > now ? new Date(expiresAt).toISOString() : undefined;
  },
});

/** One of two words, for true and false. */
export function flagFormat(yes: string, no: string): OptionFormat {
  return {
    expected: `${yes} or ${no}`,
    parse: (text) => (text === yes ? true : text === no ? false : undefined),
  };
}

/** One of some words. */
export function choiceFormat(words: readonly string[]): OptionFormat {
  return { ...TEXT, expected: `one of ${words.join(", ")}` };
}
