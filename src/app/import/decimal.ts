/** The digits after the point that prices may have. */
const DIGITS = 18;

/** Returns a price as a decimal string: `1.5e-7` becomes `0.00000015`. Undefined for what is no price. */
export function toPrice(value: unknown): string | undefined {
  const price = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof price !== "number" || !(price >= 0 && price < 1e12)) return undefined;
  if (price === 0) return "0";
  // The shortest digits of the same number: toFixed alone would show its binary error.
  const [mantissa = "", exponent = "0"] = price.toExponential().split("e");
  const [first = "", fraction = ""] = mantissa.split(".");
  const digits = first + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`.slice(0, DIGITS + 2).replace(/\.?0+$/, "");
  if (point >= digits.length) return digits.padEnd(point, "0");
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}
