import { z } from "zod";
import { TRANSFER_KINDS } from "../../core/ledger/records/records.ts";

/** A transfer from the view of one of its two accounts (`presentEntry`). */
export const LedgerEntryView = z
  .object({
    id: z.string(),
    number: z.int().describe("Position in the ledger of all accounts, ascending."),
    kind: z.enum(TRANSFER_KINDS),
    account_id: z.string().describe("Id of the account."),
    amount: z.number().describe("US dollars. Negative if money left the account."),
    amount_nanodollars: z
      .int()
      .describe("The amount in nanodollars, exact. One dollar is 1,000,000,000 nanodollars."),
    generation_id: z.string().nullable().describe("Id of the generation, for usage and refunds."),
    note: z.string().nullable(),
    created_at: z.iso.datetime(),
    expires_at: z.iso
      .datetime()
      .nullable()
      .describe("Time at which the unused part of a grant expires (RFC 3339). `null` means never."),
  })
  .meta({ id: "LedgerEntry", description: "A transfer from the view of one of its two accounts." });
