/** Characters other than printable ASCII. The runtime rejects characters outside Latin-1, and clients decode the others differently. */
const UNSAFE = /[^\x20-\x7e]/;
const UNSAFE_RUNS = /[^\x20-\x7e]+/g;
/** The values that a header of a request to another server may have: visible characters of Latin-1, spaces and tabs. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The rule that a text must meet to be the value of a header. */
export const HEADER_VALUE_RULE = "must have only characters that a header may have, on one line";

/** Returns whether a text can be sent unchanged as the value of a header. */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

/**
 * Returns a text as the value of a response header. Everything but printable ASCII is percent-encoded as in a URL, which
 * `decodeURIComponent` reverses for ids without a percent sign.
 */
export function toHeaderText(text: string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_RUNS, encode) : text;
}

function encode(run: string): string {
  return encodeURIComponent(run.toWellFormed());
}
