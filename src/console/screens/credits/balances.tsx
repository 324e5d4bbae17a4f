import { call } from "../../api/client.ts";
import type { AccountBalance } from "../../api/schema.ts";
import { Segments } from "../../parts/controls/segments.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Money } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { usePages } from "../../state/pages.ts";
import { text } from "../../text/text.ts";
import { LedgerCheck } from "./ledger-check.tsx";

type Kind = AccountBalance["account"]["kind"];

const ROWS = 100;

/** The balances of all accounts, with what each has spent. */
export function Balances() {
  const kind: Kind = query.value["kind"] === "user" ? "user" : "organization";
  const pages = usePages(kind, (after, signal) =>
    call("GET /api/admin/balances", { query: { kind, limit: ROWS, after }, signal }),
  );
  const spent = useLoad("spent", loadSpent);
  return (
    <Page title={text.credits.title}>
      <div class="stack">
        <LedgerCheck />
        <section class="card">
          <div class="card-head">
            <Segments
              label={text.credits.kind}
              value={kind}
              choices={[
                { value: "organization", label: text.lists.organizations },
                { value: "user", label: text.lists.users },
              ]}
              onChange={(value) => setQuery({ kind: value === "organization" ? null : value })}
            />
            <span class="quiet">{text.credits.listAbout}</span>
          </div>
          <PagedRows pages={pages} empty={<NoAccounts kind={kind} />}>
            {(rows) => (
              <Table
                hasCards
                label={text.credits.list}
                columns={listColumns(spent.data)}
                rows={rows}
                keyOf={({ account }) => account.id}
                order={query.value["sort"]}
                onOrder={(sort) => setQuery({ sort })}
              />
            )}
          </PagedRows>
        </section>
      </div>
    </Page>
  );
}

function NoAccounts({ kind }: { kind: Kind }) {
  return (
    <Empty title={text.credits.noAccounts[kind]}>
      <p>{text.credits.noAccountsAbout}</p>
      <a class="button" href="/console/people">
        {text.credits.people}
      </a>
    </Empty>
  );
}

function listColumns(
  spentBy: ((accountId: string) => number | null) | null,
): readonly Column<AccountBalance>[] {
  const { columns } = text.credits;
  const spentOf = ({ account }: AccountBalance) => spentBy?.(account.id) ?? null;
  return [
    {
      id: "name",
      title: columns.account,
      wraps: true,
      onCard: "title",
      sortBy: ({ account }) => account.name,
      cell: ({ account, closed_at }) => (
        <>
          <a href={`/console/credits/${account.id}`} title={`${account.name} (${account.id})`}>
            {account.name}
          </a>{" "}
          {closed_at === null ? null : <Badge>{text.lists.closed}</Badge>}
        </>
      ),
    },
    moneyColumn("balance", columns.balance, (line) => line.balance_nanodollars),
    moneyColumn("held", columns.held, (line) => line.held_nanodollars),
    {
      id: "overdraft",
      title: columns.overdraft,
      isNumber: true,
      width: 120,
      sortBy: ({ overdraft }) => overdraft ?? Number.POSITIVE_INFINITY,
      cell: ({ overdraft }) =>
        overdraft === null ? text.credits.unlimited : <Money nanodollars={overdraft * 1e9} />,
    },
    moneyColumn("spent", columns.spent, spentOf),
  ];
}

function moneyColumn(
  id: string,
  title: string,
  sortBy: (line: AccountBalance) => number | null,
): Column<AccountBalance> {
  return {
    id,
    title,
    isNumber: true,
    width: 136,
    sortBy,
    cell: (line) => {
      const nanodollars = sortBy(line);
      if (nanodollars === null) return text.lists.none;
      return (
        <span class={nanodollars < 0 ? "bad" : undefined}>
          <Money nanodollars={nanodollars} />
        </span>
      );
    },
  };
}

/**
 * Loads what each account was charged in the last 30 days, the usual range of the report. The function returns null for an account that a
 * report lacks which is not complete.
 */
async function loadSpent(signal: AbortSignal): Promise<(accountId: string) => number | null> {
  const report = await call("GET /api/admin/usage", { query: { group_by: "account" }, signal });
  const spent = new Map(
    report.data.map(({ account, cost_nanodollars }) => [account ?? "", cost_nanodollars]),
  );
  return (accountId) => spent.get(accountId) ?? (report.is_complete ? 0 : null);
}
