import { z } from "zod";
import { BOUNDS } from "../../base/bounds.ts";
import { parseDollars } from "../../base/money.ts";

/** What people call something. */
export const NameField = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({ description: "What people call it", examples: ["Ada"] });

/** An id in a path or a body. */
export const IdField = z.string().min(1).max(100);

/** US dollars, none or more; at most nine decimal places, so that nothing is rounded. */
export const DollarsField = z
  .number()
  .min(0)
  .refine((dollars) => parseDollars(dollars) !== null, {
    error: "must have at most 9 decimal places and be less than 9 million dollars",
  })
  .describe("US dollars, at most nine decimal places");

/** Dollars as nanodollars. Null and undefined stay what they are. */
export function nanodollarsOf<Amount extends number | null | undefined>(dollars: Amount) {
  return (typeof dollars === "number" ? parseDollars(dollars) : dollars) as Amount;
}

/** Patterns of ids, with `*` for any characters. */
export const PatternsField = z
  .array(z.string().trim().min(1).max(BOUNDS.modelIdChars))
  .max(BOUNDS.patterns)
  .describe("Ids, with `*` for any characters");
