/** Conversions between prices per token and per million tokens. Decimal strings, because floating point would change digits. */

const PLACES = 6;
const DECIMAL = /^(\d{0,12})(?:\.(\d{0,18}))?$/;

/** Returns a price per million tokens as one per token: `2.50` is `0.0000025`. Null if the text is not a number. */
export function toPerToken(perMillion: string): string | null {
  return shift(perMillion, -PLACES);
}

/** Returns a price per token as one per million tokens. Null if the text is not a number. */
export function toPerMillion(perToken: string): string | null {
  return shift(perToken, PLACES);
}

function shift(typed: string, places: number): string | null {
  const [, whole = "", part = ""] = DECIMAL.exec(typed.trim()) ?? [];
  if (whole === "" && part === "") return null;
  const digits = places < 0 ? whole.padStart(-places + 1, "0") + part : whole + part.padEnd(places, "0");
  const point = places < 0 ? Math.max(whole.length, -places + 1) + places : whole.length + places;
  const before = digits.slice(0, point).replace(/^0+(?=\d)/, "") || "0";
  const after = digits.slice(point).replace(/0+$/, "");
  return after === "" ? before : `${before}.${after}`;
}
