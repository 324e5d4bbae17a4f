import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { correctBalance, grantCredits, type Moved, refundGeneration } from "../../core/ledger/credits.ts";
import { presentEntry } from "../../core/ledger/present-entry.ts";
import { OPERATOR } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { EntryView } from "../api/entry-view.ts";
import { amountField, idField, noteField, positiveAmountField, requireAccount } from "../api/fields.ts";

/** The transfer as the account that it is about sees it; 200 where it was there before. */
export function answerMoved({ transfer, isNew }: Moved, accountId: string): Response {
  return Response.json({ data: presentEntry(transfer, accountId) }, { status: isNew ? 201 : 200 });
}

/** `POST /api/admin/accounts/{id}/credits`: gives credits, for ever or for a time. */
export const postCredits = defineEndpoint({
  method: "POST",
  path: "/api/admin/accounts/:id/credits",
  tag: "Credits",
  summary: "Give an account credits, for ever or for a time",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  query: NOTHING,
  body: z.strictObject({
    amount: positiveAmountField,
    note: noteField.nullish(),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullish()
      .describe("When what is left of them ends. Default: never"),
    id: idField.nullish(),
  }),
  response: z.object({ data: EntryView }),
  status: 201,
  known: 200,
  async handle({ params, body, deps }) {
    const { id: accountId } = await requireAccount(deps, params.id);
    const expiresAt = body.expires_at ? Date.parse(body.expires_at) : null;
    if (expiresAt !== null && expiresAt <= deps.clock.now())
      fail("invalid_request", "expires_at must lie in the future.", { metadata: { field: "expires_at" } });
    const { amount, note = null, id = null } = body;
    return answerMoved(
      await grantCredits(deps.credits, { accountId, amount, note, id, expiresAt }),
      accountId,
    );
  },
});

/** `POST /api/admin/accounts/{id}/corrections`: moves a balance up or down. */
export const postCorrection = defineEndpoint({
  method: "POST",
  path: "/api/admin/accounts/:id/corrections",
  tag: "Credits",
  summary: "Correct an account's balance, up or down",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  query: NOTHING,
  body: z.strictObject({
    amount: amountField.refine((amount) => amount !== 0, "must not be 0"),
    note: noteField,
    id: idField.nullish(),
  }),
  response: z.object({ data: EntryView }),
  status: 201,
  known: 200,
  async handle({ params, body, deps }) {
    const { id: accountId } = await requireAccount(deps, params.id);
    const { amount, note, id = null } = body;
    return answerMoved(await correctBalance(deps.credits, { accountId, amount, note, id }), accountId);
  },
});

/** `POST /api/admin/generations/{id}/refund`: gives back what a generation cost, or a part of it. */
export const postRefund = defineEndpoint({
  method: "POST",
  path: "/api/admin/generations/:id/refund",
  tag: "Credits",
  summary: "Give back what a generation cost, or a part of it",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  query: NOTHING,
  body: z.strictObject({
    amount: positiveAmountField.nullish().describe("US dollars. Default: all that was not given back yet"),
    note: noteField.nullish(),
    id: idField.nullish(),
  }),
  response: z.object({ data: EntryView }),
  status: 201,
  known: 200,
  async handle({ params, body, deps }) {
    const { amount = null, note = null, id = null } = body;
    const moved = await refundGeneration(deps.credits, { generationId: params.id, amount, note, id });
    return answerMoved(moved, moved.transfer.to);
  },
});
