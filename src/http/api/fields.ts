import { z } from "zod";
import { fail } from "../../base/failures/errors.ts";
import { parseDollars } from "../../base/numbers/money.ts";
import type { AccountRecord } from "../../core/accounts/records/records.ts";
import { PlainText } from "../../core/catalog/records/plain-text-schema.ts";
import type { StoreDeps } from "../context/store-deps.ts";

/** A signed amount of US dollars in a body, parsed to nanodollars. */
export const amountField = z
  .union([z.string(), z.number()])
  .transform((amount, context) => {
    const nanodollars = parseDollars(amount);
    if (nanodollars !== null) return nanodollars;
    context.addIssue({
      code: "custom",
      message:
        'must be an amount of US dollars with at most 9 decimal places and less than 9 million, such as "12.50"',
    });
    return z.NEVER;
  })
  .meta({
    description: "US dollars, as a number or a decimal string with at most nine decimal places.",
    examples: ["12.50"],
  });

/** A positive amount. */
export const positiveAmountField = amountField.refine((amount) => amount > 0, "must be more than 0");

/** An id that the client chooses, so that repeating the request creates nothing new. */
export const idField = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, "must be 1 to 128 letters, digits or any of _ . : -")
  .describe(
    "Your unique id of the transfer. A repeated request with the same id creates nothing new. 1 to 128 letters, digits or any of `_ . : -`.",
  );

export const noteField = PlainText.trim()
  .min(1)
  .max(500)
  .meta({ description: "Human-readable reason.", examples: ["order 1001"] });

/**
 * Returns the account with an id.
 * @throws GatewayError `not_found`.
 */
export async function requireAccount(
  { callers: { accountCache } }: StoreDeps,
  id: string,
): Promise<AccountRecord> {
  return (await accountCache.account(id)) ?? fail("not_found", "There is no account with that id.");
}
