import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { toDollars } from "../../../base/numbers/money.ts";
import { DAY_MS } from "../../../base/time/time.ts";
import { checkLedger, presentDifference } from "../../../core/ledger/credits/check-ledger.ts";
import type { LedgerStore, StoredTransfer } from "../../../core/ledger/records/ledger-store.ts";
import { presentEntry } from "../../../core/ledger/records/present-entry.ts";
import { presentGrantLeft, presentSums } from "../../../core/ledger/records/present-sums.ts";
import { TRANSFER_KINDS } from "../../../core/ledger/records/records.ts";
import { needs, OPERATOR, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { requireAccount } from "../../api/fields.ts";
import { LedgerEntryView } from "../../api/ledger-entry-view.ts";
import { PAGE_QUERY, pageView } from "../../api/pages.ts";

/** `GET /api/admin/accounts/{id}/balance`: an account's balance. */
export const getBalance = defineEndpoint({
  method: "GET",
  path: "/api/admin/accounts/:id/balance",
  tag: "Ledger",
  summary: "Retrieve an account's balance, its holds and its expiring grants",
  access: needs("read"),
  params: z.object({ id: z.string() }),
  response: z.object({
    data: z.object({
      account_id: z.string(),
      balance: z.number().describe("Balance in US dollars."),
      balance_nanodollars: z
        .int()
        .describe("The balance in nanodollars, exact. One dollar is 1,000,000,000 nanodollars."),
      held: z.number().describe("US dollars held for requests in progress."),
      held_nanodollars: z.int(),
      available: z
        .number()
        .nullable()
        .describe(
          "US dollars available for new requests: balance plus overdraft, minus holds. `null` means no limit.",
        ),
      available_nanodollars: z.int().nullable(),
      overdraft: z
        .number()
        .nullable()
        .describe("US dollars by which the balance may fall below zero. `null` means no bound."),
      total_granted: z.number(),
      total_purchased: z.number(),
      total_used: z.number().describe("US dollars charged for generations, less refunds."),
      total_credits: z.number().describe("US dollars granted and purchased, less expired grants."),
      total_usage: z.number().describe("Same as `total_used`."),
      grants: z.array(
        z.object({
          id: z.string(),
          left: z.number().describe("Unused part of the grant in US dollars."),
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
    const grants = await deps.resources.credits.store.findGrantsLeft(account.id);
    const sums = await deps.resources.credits.store.sumTransfers(account.id);
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
        overdraft: account.overdraft === null ? null : toDollars(account.overdraft),
        ...presentSums(sums),
        grants: grants.map(presentGrantLeft),
      },
    };
  },
});

/** `GET /api/admin/accounts/{id}/ledger`: the transfers of an account, newest first. */
export const listLedger = defineEndpoint({
  method: "GET",
  path: "/api/admin/accounts/:id/ledger",
  tag: "Ledger",
  summary: "List the transfers of an account, newest first",
  access: needs("read"),
  params: z.object({ id: z.string() }),
  query: z.strictObject({
    kind: z.enum(TRANSFER_KINDS).optional().describe("Only transfers of this kind."),
    from: z.iso.date().optional().describe("First day (UTC). Default: the day of the first transfer."),
    to: z.iso
      .date()
      .optional()
      .describe(
        "Last day (UTC). Default: today. A charge that was written late, for example after an outage, is listed on the day it was written.",
      ),
    limit: PAGE_QUERY.limit,
    after: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, "must be the `next` of a previous page")
      .optional()
      .describe("The `next` of the previous page."),
  }),
  response: pageView(LedgerEntryView),
  async handle({ params, query, principal, deps }) {
    const { id } = await requireAccount(deps, requireOwnAccount(principal, params.id));
    await deps.generation.recorder.drain();
    const { store } = deps.resources.credits;
    const { first, end } = await findDays({ store, accountId: id }, query);
    const before = query.after === undefined ? end : Math.min(end, Number(query.after));
    const listed = await store.listTransfers(id, before, query.limit + 1, query.kind);
    const found = listed.filter(({ place }) => place >= first);
    const page = found.slice(0, query.limit);
    return {
      data: page.map((transfer) => presentEntry(transfer, id)),
      next: found.length > page.length ? String(page.at(-1)?.place) : null,
    };
  },
});

/** Returns the sequence numbers of the first transfer of a range of days, and of the first one after it. */
async function findDays(
  list: TransferList,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
) {
  const days = {
    from: from === undefined ? null : Date.parse(from),
    to: to === undefined ? null : Date.parse(to),
  };
  if (days.from !== null && days.to !== null && days.from > days.to)
    fail("invalid_request", "`from` must not be after `to`.", { metadata: { field: "from" } });
  return {
    first: days.from === null ? 0 : await findPlace(list, days.from),
    end: days.to === null ? Number.MAX_SAFE_INTEGER : await findPlace(list, days.to + DAY_MS),
  };
}

/** `GET /api/admin/holds`: the current holds. */
export const listHolds = defineEndpoint({
  method: "GET",
  path: "/api/admin/holds",
  tag: "Ledger",
  summary: "List the current holds: for requests in progress, and of expired grants",
  needs: "gateway",
  access: OPERATOR,
  response: z.object({
    data: z.array(
      z.object({
        id: z.string().describe("Id of the generation."),
        account_id: z.string(),
        amount: z.number().describe("US dollars."),
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

/** `GET /api/admin/ledger/check`: checks the ledger for inconsistencies. */
export const getLedgerCheck = defineEndpoint({
  method: "GET",
  path: "/api/admin/ledger/check",
  tag: "Ledger",
  summary:
    "Check the ledger. Lists differences between transfers and balances and between records and transfers, quarantined records, and damaged journal lines; empty if there are none",
  access: OPERATOR,
  response: z.object({
    data: z.array(
      z.object({
        of: z
          .enum(["balance", "record", "quarantined", "damaged"])
          .describe(
            "What the problem is about. `balance`: an account's balance differs from the sum of its transfers. `record`: a generation's cost differs from its transfer. `quarantined`: the store rejects a generation's record, which is not charged. `damaged`: damaged lines of the journal.",
          ),
        id: z
          .string()
          .describe("Id of the account or generation; for damaged lines, the name of their file."),
        difference_nanodollars: z
          .int()
          .describe(
            "Nanodollars: for `balance`, the sum of the transfers minus the balance; for `record`, the cost minus the transfer; for `quarantined`, the amount not charged; for `damaged`, 0.",
          ),
        reason: z
          .string()
          .optional()
          .describe("Why a record is quarantined, or the readable part of damaged lines."),
      }),
    ),
  }),
  async handle({ deps }) {
    await deps.generation.recorder.drain();
    return {
      data: (
        await checkLedger(deps.resources.credits.store, deps.reports.usage, deps.resources.listDamagedLines())
      ).map(presentDifference),
    };
  },
});

/** An account's transfers, by which times are found. */
interface TransferList {
  readonly store: Pick<LedgerStore, "listTransfers">;
  readonly accountId: string;
}

/**
 * Returns the sequence number at which an account's transfers of a time begin: those before it are earlier than `timeMs`. It is found
 * in about 25 reads of one row however many transfers there are, because transfers are written in the order of their times. A
 * charge that was written late, such as after an outage of the database, counts to the time at which it was written.
 */
async function findPlace(list: TransferList, timeMs: number): Promise<number> {
  const newest = await findNewest(list, Number.MAX_SAFE_INTEGER);
  if (newest === null || newest.createdAt < timeMs) return Number.MAX_SAFE_INTEGER;
  // Transfers before `low` are earlier than the time, those from `high` on are not.
  let low = 1;
  let high = newest.place;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await findNewest(list, middle + 1);
    if (found === null || found.place < low || found.createdAt < timeMs) low = middle + 1;
    else high = found.place;
  }
  return low;
}

async function findNewest(
  { store, accountId }: TransferList,
  beforePlace: number,
): Promise<StoredTransfer | null> {
  const [newest] = await store.listTransfers(accountId, beforePlace, 1);
  return newest ?? null;
}
