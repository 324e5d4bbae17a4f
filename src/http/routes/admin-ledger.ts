import { z } from "zod";
import { toDollars } from "../../base/money.ts";
import { checkLedger, presentDifference } from "../../core/ledger/check-ledger.ts";
import { presentEntry } from "../../core/ledger/present-entry.ts";
import { presentGrantLeft } from "../../core/ledger/present-sums.ts";
import { TRANSFER_KINDS } from "../../core/ledger/records.ts";
import { ACCOUNT_READERS, OPERATOR, requireOwnAccount } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { EntryView } from "../api/entry-view.ts";
import { requireAccount } from "../api/fields.ts";
import { PAGE_QUERY, pageView } from "../api/pages.ts";

/** `GET /api/admin/accounts/{id}/balance`. */
export const getBalance = defineEndpoint({
  method: "GET",
  path: "/api/admin/accounts/:id/balance",
  tag: "Ledger",
  summary: "What an account has, what is held of it, and what is left of its grants for a time",
  access: ACCOUNT_READERS,
  params: z.object({ id: z.string() }),
  query: NOTHING,
  body: NOTHING,
  response: z.object({
    data: z.object({
      account_id: z.string(),
      balance: z.number().describe("US dollars"),
      balance_nanodollars: z.int().describe("The same, exact: 1,000,000,000 are a dollar"),
      held: z.number().describe("US dollars held for requests under way"),
      held_nanodollars: z.int(),
      available: z.number().nullable().describe("What may still be held; null: without a bound"),
      available_nanodollars: z.int().nullable(),
      grants: z.array(
        z.object({
          id: z.string(),
          left: z.number().describe("US dollars"),
          left_nanodollars: z.int(),
          expires_at: z.iso.datetime(),
        }),
      ),
    }),
  }),
  async handle({ params, principal, deps }) {
    const account = await requireAccount(deps, requireOwnAccount(principal, params.id));
    const { ledger, recorder } = deps.generation;
    await recorder.drain();
    const grants = await deps.credits.store.findGrantsLeft(account.id);
    const { balance, held } = await ledger.balanceOf(account.id);
    const available = account.overdraft === null ? null : balance - held + account.overdraft;
    return {
      data: {
        account_id: account.id,
        balance: toDollars(balance),
        balance_nanodollars: balance,
        held: toDollars(held),
        held_nanodollars: held,
        available: available === null ? null : toDollars(available),
        available_nanodollars: available,
        grants: grants.map(presentGrantLeft),
      },
    };
  },
});

/** `GET /api/admin/accounts/{id}/ledger`: what moved an account's money, newest first. */
export const listLedger = defineEndpoint({
  method: "GET",
  path: "/api/admin/accounts/:id/ledger",
  tag: "Ledger",
  summary: "What moved an account's money, newest first",
  access: ACCOUNT_READERS,
  params: z.object({ id: z.string() }),
  query: z.strictObject({
    kind: z.enum(TRANSFER_KINDS).optional().describe("Of one kind alone"),
    limit: PAGE_QUERY.limit,
    after: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, "must be the next of a page before")
      .optional()
      .describe("`next` of the page before"),
  }),
  body: NOTHING,
  response: pageView(EntryView),
  async handle({ params, query, principal, deps }) {
    const { id } = await requireAccount(deps, requireOwnAccount(principal, params.id));
    await deps.generation.recorder.drain();
    const before = query.after === undefined ? Number.MAX_SAFE_INTEGER : Number(query.after);
    const found = await deps.credits.store.listTransfers(id, before, query.limit + 1, query.kind);
    const page = found.slice(0, query.limit);
    return {
      data: page.map((transfer) => presentEntry(transfer, id)),
      next: found.length > page.length ? String(page.at(-1)?.place) : null,
    };
  },
});

/** `GET /api/admin/holds`: what is held for requests under way. */
export const listHolds = defineEndpoint({
  method: "GET",
  path: "/api/admin/holds",
  tag: "Ledger",
  summary: "What is held at the moment: for requests under way, and of grants whose time is up",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: NOTHING,
  response: z.object({
    data: z.array(
      z.object({
        id: z.string().describe("The generation's"),
        account_id: z.string(),
        amount: z.number().describe("US dollars"),
        amount_nanodollars: z.int(),
      }),
    ),
  }),
  handle({ deps }) {
    return {
      data: deps.generation.ledger.holds().map(({ id, accountId, amount }) => ({
        id,
        account_id: accountId,
        amount: toDollars(amount),
        amount_nanodollars: amount,
      })),
    };
  },
});

/** `GET /api/admin/ledger/check`: adds everything up. */
export const getLedgerCheck = defineEndpoint({
  method: "GET",
  path: "/api/admin/ledger/check",
  tag: "Ledger",
  summary:
    "Every difference between transfers and balances, and between records and transfers, every record in quarantine, and damaged lines of the journal; empty when all is well",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: NOTHING,
  response: z.object({
    data: z.array(
      z.object({
        of: z
          .enum(["balance", "record", "quarantined", "damaged"])
          .describe(
            "`quarantined`: a generation's record that the store rejects; it is not charged. `damaged`: lines of the journal that a disk has damaged",
          ),
        id: z
          .string()
          .describe("The account's or the generation's; of damaged lines the file that they are kept in"),
        difference_nanodollars: z
          .int()
          .describe(
            "The transfers' sum less the balance; the record's cost less its transfer; what a quarantined record would have charged; 0 for damaged lines",
          ),
        reason: z
          .string()
          .optional()
          .describe("Why a record is quarantined, or what can be read in damaged lines"),
      }),
    ),
  }),
  async handle({ deps }) {
    await deps.generation.recorder.drain();
    return {
      data: (await checkLedger(deps.credits.store, deps.usage, deps.listDamagedLines())).map(
        presentDifference,
      ),
    };
  },
});
