import { z } from "zod";
import { toDollars } from "../../../base/numbers/money.ts";
import { formatTime } from "../../../base/time/time.ts";
import type { AccountRecord } from "../../../core/accounts/records/records.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const KINDS = ["organization", "user"] as const;

const AccountBalance = z
  .object({
    account: z.object({ id: z.string(), name: z.string(), kind: z.enum(KINDS) }),
    balance: z.number().describe("Balance in US dollars."),
    balance_nanodollars: z.int(),
    held: z.number().describe("US dollars held for requests in progress."),
    held_nanodollars: z.int(),
    overdraft: z
      .number()
      .nullable()
      .describe("US dollars by which the balance may fall below zero. `null` means no limit."),
    closed_at: z.iso.datetime().nullable().describe("Time at which the account was closed (RFC 3339)."),
  })
  .meta({ id: "AccountBalance", description: "The balance of an account." });

/** `GET /api/admin/balances`: the balances of all accounts of a kind. */
export const listBalances = defineEndpoint({
  method: "GET",
  path: "/api/admin/balances",
  tag: "Ledger",
  summary: "List the balances of all organizations, or of all users, newest account first",
  access: OPERATOR,
  query: z.strictObject({
    kind: z.enum(KINDS).default("organization").describe("Which accounts are listed."),
    ...PAGE_QUERY,
  }),
  response: pageView(AccountBalance),
  async handle({ query, deps }) {
    const { ledger, recorder } = deps.generation;
    await recorder.drain();
    return makePage({
      limit: query.limit,
      load: (limit) =>
        deps.resources.keyStores.accounts.listAccounts({ kind: query.kind, afterId: query.after, limit }),
      present: (accounts) => Promise.all(accounts.map((account) => presentBalance(account, ledger))),
      cursorOf: ({ id }) => id,
    });
  },
});

async function presentBalance(
  { id, name, kind, overdraft, closedAt }: AccountRecord,
  ledger: StoreDeps["generation"]["ledger"],
) {
  const { balance, held } = await ledger.balanceOf(id);
  return {
    account: { id, name, kind },
    balance: toDollars(balance),
    balance_nanodollars: balance,
    held: toDollars(held),
    held_nanodollars: held,
    overdraft: overdraft === null ? null : toDollars(overdraft),
    closed_at: formatTime(closedAt),
  };
}
