import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { formatDollars } from "../../../base/numbers/money.ts";
import {
  addPurchase,
  correctBalance,
  grantCredits,
  type Moved,
  refundGeneration,
} from "../../../core/ledger/credits/credits.ts";
import { presentEntry } from "../../../core/ledger/records/present-entry.ts";
import { OPERATOR } from "../../api/access.ts";
import type { AuditDetails } from "../../api/audit-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { amountField, idField, noteField, positiveAmountField, requireAccount } from "../../api/fields.ts";
import { LedgerEntryView } from "../../api/ledger-entry-view.ts";

/** Returns a response with a transfer from the view of an account: 201, or 200 if the transfer already existed. */
export function respondWithTransfer({ transfer, isNew }: Moved, accountId: string): Response {
  return Response.json({ data: presentEntry(transfer, accountId) }, { status: isNew ? 201 : 200 });
}

/** Returns what the audit log records of a change of a balance. */
function describeMovement(accountId: string, body: { readonly amount: number }): AuditDetails {
  return { accountId, target: accountId, changes: { ...body, amount: formatDollars(body.amount) } };
}

/** `POST /api/admin/accounts/{id}/credits`: grants credits to an account. */
export const postCredits = defineEndpoint({
  method: "POST",
  path: "/api/admin/accounts/:id/credits",
  tag: "Credits",
  summary: "Grant credits to an account, optionally with an expiry time",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  body: z.strictObject({
    amount: positiveAmountField,
    note: noteField.nullish(),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullish()
      .describe("Time at which the unused part of the grant expires (RFC 3339). Default: never."),
    id: idField.nullish(),
  }),
  response: z.object({ data: LedgerEntryView }),
  status: 201,
  existingStatus: 200,
  async handle({ params, body, deps, audit }) {
    const { id: accountId } = await requireAccount(deps, params.id);
    const expiresAt = body.expires_at ? Date.parse(body.expires_at) : null;
    if (expiresAt !== null && expiresAt <= deps.clock.now())
      fail("invalid_request", "expires_at must be in the future.", { metadata: { field: "expires_at" } });
    const { amount, note = null, id = null } = body;
    audit(describeMovement(accountId, body));
    return respondWithTransfer(
      await grantCredits(deps.resources.credits, { accountId, amount, note, id, expiresAt }),
      accountId,
    );
  },
});

/** `POST /api/admin/accounts/{id}/purchases`: records a purchase that the payment system has not reported. */
export const postPurchase = defineEndpoint({
  method: "POST",
  path: "/api/admin/accounts/:id/purchases",
  tag: "Credits",
  summary: "Record a purchase of credits that the payment system has not reported. Each payment counts once",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  body: z.strictObject({
    id: idField.meta({ description: "Id of the payment. Each id counts once.", examples: ["pay_1002"] }),
    amount: positiveAmountField,
    note: noteField.nullish(),
  }),
  response: z.object({ data: LedgerEntryView }),
  status: 201,
  existingStatus: 200,
  async handle({ params, body, deps, audit }) {
    const { id: accountId } = await requireAccount(deps, params.id);
    const { id, amount, note = null } = body;
    audit(describeMovement(accountId, body));
    return respondWithTransfer(
      await addPurchase(deps.resources.credits, { accountId, amount, note, id }),
      accountId,
    );
  },
});

/** `POST /api/admin/accounts/{id}/corrections`: corrects a balance. */
export const postCorrection = defineEndpoint({
  method: "POST",
  path: "/api/admin/accounts/:id/corrections",
  tag: "Credits",
  summary: "Correct an account's balance by a positive or negative amount",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  body: z.strictObject({
    amount: amountField.refine((amount) => amount !== 0, "must not be 0"),
    note: noteField,
    id: idField.nullish(),
  }),
  response: z.object({ data: LedgerEntryView }),
  status: 201,
  existingStatus: 200,
  async handle({ params, body, deps, audit }) {
    const { id: accountId } = await requireAccount(deps, params.id);
    const { amount, note, id = null } = body;
    audit(describeMovement(accountId, body));
    return respondWithTransfer(
      await correctBalance(deps.resources.credits, { accountId, amount, note, id }),
      accountId,
    );
  },
});

/** `POST /api/admin/generations/{id}/refund`: refunds the cost of a generation, or a part of it. */
export const postRefund = defineEndpoint({
  method: "POST",
  path: "/api/admin/generations/:id/refund",
  tag: "Credits",
  summary: "Refund the cost of a generation, or a part of it",
  access: OPERATOR,
  params: z.object({ id: z.string() }),
  body: z.strictObject({
    amount: positiveAmountField
      .nullish()
      .describe("US dollars. Default: the part of the cost that has not been refunded yet."),
    note: noteField.nullish(),
    id: idField.nullish(),
  }),
  response: z.object({ data: LedgerEntryView }),
  status: 201,
  existingStatus: 200,
  async handle({ params, body, deps, audit }) {
    const { amount = null, note = null, id = null } = body;
    const moved = await refundGeneration(deps.resources.credits, {
      generationId: params.id,
      amount,
      note,
      id,
    });
    const { to, amount: refunded } = moved.transfer;
    audit({ accountId: to, target: params.id, changes: { ...body, amount: formatDollars(refunded) } });
    return respondWithTransfer(moved, to);
  },
});
