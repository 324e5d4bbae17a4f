import { z } from "zod";
import { addPurchase } from "../../../core/ledger/credits/credits.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { idField, noteField, positiveAmountField, requireAccount } from "../../api/fields.ts";
import { LedgerEntryView } from "../../api/ledger-entry-view.ts";
import { respondWithTransfer } from "./admin-credits.ts";

/** `POST /api/payments/webhook`: a payment system reports a purchase of credits. Each payment id counts once. */
export const postPayment = defineEndpoint({
  method: "POST",
  path: "/api/payments/webhook",
  tag: "Payments",
  summary: "Record a purchase of credits. Signed by the payment system; each payment counts once",
  access: { kind: "signed" },
  body: z.strictObject({
    id: idField.meta({ description: "Id of the payment. Each id counts once.", examples: ["pay_1001"] }),
    account_id: z.string().describe("Id of the account that made the purchase."),
    amount: positiveAmountField,
    currency: z.literal("usd"),
    note: noteField.nullish(),
  }),
  response: z.object({ data: LedgerEntryView }),
  status: 201,
  existingStatus: 200,
  async handle({ body, deps }) {
    const { id: accountId } = await requireAccount(deps, body.account_id);
    const { id, amount, note = null } = body;
    return respondWithTransfer(
      await addPurchase(deps.resources.credits, { accountId, amount, note, id }),
      accountId,
    );
  },
});
