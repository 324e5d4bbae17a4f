import { z } from "zod";
import { TRANSFER_KINDS } from "../../core/ledger/records.ts";

/** A transfer as one of its two accounts sees it: what `presentEntry` gives. */
export const EntryView = z
  .object({
    id: z.string(),
    number: z.int().describe("Its place in the ledger of all accounts; rises"),
    kind: z.enum(TRANSFER_KINDS),
    account_id: z.string().describe("Whose money it moved"),
    amount: z.number().describe("US dollars; negative: went out"),
    amount_nanodollars: z.int().describe("The same, exact: 1,000,000,000 are a dollar"),
    generation_id: z.string().nullable().describe("Of usage and refunds: the generation"),
    note: z.string().nullable(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().describe("Of a grant: when what is left of it ends"),
  })
  .meta({ id: "LedgerEntry", description: "A transfer as one of its two accounts sees it" });
