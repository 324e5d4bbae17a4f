import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { parseDollars } from "../../base/money.ts";
import type { AccountRecord } from "../../core/accounts/records.ts";
import type { HttpDeps } from "../context/context.ts";

/** An amount of US dollars in a body, as nanodollars. */
export const amountField = z
  .union([z.string(), z.number()])
  .transform((amount, context) => {
    const nanodollars = parseDollars(amount);
    if (nanodollars !== null) return nanodollars;
    context.addIssue({
      code: "custom",
      message:
        'must be an amount of US dollars with at most 9 places and less than 9 million, such as "12.50"',
    });
    return z.NEVER;
  })
  .meta({
    description: "US dollars, a number or a decimal string, exact to nine places",
    examples: ["12.50"],
  });

/** An amount of more than nothing. */
export const positiveAmountField = amountField.refine((amount) => amount > 0, "must be more than 0");

/** The caller's own name for what it makes: sent again it makes nothing new. */
export const idField = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, "must be 1 to 128 letters, digits or any of _ . : -")
  .describe(
    "Your own name for it: with the same one it happens once. 1 to 128 letters, digits or any of _ . : -",
  );

export const noteField = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .meta({ description: "For people: why", examples: ["order 1001"] });

/**
 * An account that is there.
 * @throws GatewayError `not_found`.
 */
export async function requireAccount({ accountCache }: HttpDeps, id: string): Promise<AccountRecord> {
  return (await accountCache.account(id)) ?? fail("not_found", "There is no account with that id.");
}
