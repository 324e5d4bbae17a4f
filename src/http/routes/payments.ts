import { z } from "zod";
import { addPurchase } from "../../core/ledger/credits.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { EntryView } from "../api/entry-view.ts";
import { idField, noteField, positiveAmountField, requireAccount } from "../api/fields.ts";
import { answerMoved } from "./admin-credits.ts";

/** `POST /api/payments/webhook`: a payment system says that an account has paid. Once for each payment's id. */
export const postPayment = defineEndpoint({
  method: "POST",
  path: "/api/payments/webhook",
  tag: "Payments",
  summary: "Put bought credits into an account; signed by the payment system, once for each payment",
  access: { kind: "signed" },
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject({
    id: idField.meta({ description: "The payment's id: each counts once", examples: ["pay_1001"] }),
    account_id: z.string().describe("Who has bought"),
    amount: positiveAmountField,
    currency: z.literal("usd"),
    note: noteField.nullish(),
  }),
  response: z.object({ data: EntryView }),
  status: 201,
  known: 200,
  async handle({ body, deps }) {
    const { id: accountId } = await requireAccount(deps, body.account_id);
    const { id, amount, note = null } = body;
    return answerMoved(await addPurchase(deps.credits, { accountId, amount, note, id }), accountId);
  },
});
