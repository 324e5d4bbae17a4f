import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { LedgerEntry } from "../../api/schema.ts";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount, shortenId } from "../../parts/values/format.ts";
import { Money, Time } from "../../parts/values/values.tsx";
import { type PageOf, usePages } from "../../state/pages.ts";
import { text } from "../../text/text.ts";
import { LedgerFilterBar, type LedgerFilters, NoTransfers, readLedgerFilters } from "./ledger-filter.tsx";
import { addBalances, type LedgerRow, sumEntries } from "./ledger-rows.ts";

const ROWS = 50;
/** How often the first page is read until the balance has not changed meanwhile. */
const ATTEMPTS = 3;

/** The transfers of an account, the newest first. `round` reloads them. */
export function Ledger({ id, round }: { id: string; round: number }) {
  const filters = readLedgerFilters();
  const [balance, setBalance] = useState<number | null>(null);
  // The balance after a transfer follows from the present one if the newest transfers are listed without a gap.
  const hasBalances = filters.kind === null && filters.to === null;
  const pages = usePages<LedgerEntry>(JSON.stringify([id, filters]), async (after, signal) => {
    const query = { id, ...filters, after };
    if (after !== null || !hasBalances) return loadPage(query, signal);
    const first = await loadWithBalance(query, signal);
    setBalance(first.balance);
    return first.page;
  });
  useEffect(() => {
    if (round > 0) pages.reload();
  }, [round]);
  return (
    <section class="card">
      <div class="card-head wrap">
        <h2>{text.credits.ledger}</h2>
        <span class="grow" />
        <LedgerFilterBar {...filters} />
      </div>
      <PagedRows pages={pages} empty={<NoTransfers {...filters} />}>
        {(rows) => (
          <Table
            hasCards
            label={text.credits.ledger}
            columns={listColumns(rows, hasBalances)}
            rows={addBalances(rows, hasBalances ? balance : null)}
            keyOf={({ number, id: entry }) => `${number} ${entry}`}
            footTitle={text.credits.sum(formatCount(rows.length))}
          />
        )}
      </PagedRows>
    </section>
  );
}

interface PageQuery extends LedgerFilters {
  readonly id: string;
  readonly after: string | null;
}

function loadPage({ id, ...filters }: PageQuery, signal: AbortSignal): Promise<PageOf<LedgerEntry>> {
  const query = { ...filters, limit: ROWS };
  return call("GET /api/admin/accounts/{id}/ledger", { params: { id }, query, signal });
}

/**
 * Loads the first page, and the balance after its first entry. If the balance was the same before and after loading, it belongs to the
 * page. Otherwise it is null: the account is charged too often.
 */
async function loadWithBalance(query: PageQuery, signal: AbortSignal) {
  const params = { id: query.id };
  const loadBalance = async () => {
    const { data } = await call("GET /api/admin/accounts/{id}/balance", { params, signal });
    return data.balance_nanodollars;
  };
  let before = await loadBalance();
  for (let attempt = 1; ; attempt++) {
    const page = await loadPage(query, signal);
    const after = await loadBalance();
    if (after === before) return { page, balance: after };
    if (attempt === ATTEMPTS) return { page, balance: null };
    before = after;
  }
}

function listColumns(rows: readonly LedgerEntry[], hasBalances: boolean): readonly Column<LedgerRow>[] {
  const { ledgerColumns, kinds } = text.credits;
  const columns: readonly Column<LedgerRow>[] = [
    { id: "time", title: ledgerColumns.time, width: 150, cell: ({ created_at }) => <Time at={created_at} /> },
    { id: "kind", title: ledgerColumns.kind, width: 104, onCard: "title", cell: ({ kind }) => kinds[kind] },
    {
      id: "about",
      title: ledgerColumns.about,
      width: 280,
      wraps: true,
      onCard: "plain",
      cell: (row) => <About {...row} />,
    },
    {
      id: "amount",
      title: ledgerColumns.amount,
      isNumber: true,
      width: 128,
      onCard: "aside",
      cell: ({ amount_nanodollars }) => <Amount nanodollars={amount_nanodollars} />,
      foot: <Amount nanodollars={sumEntries(rows)} />,
    },
  ];
  const balance: Column<LedgerRow> = {
    id: "balance",
    title: ledgerColumns.balance,
    isNumber: true,
    width: 128,
    cell: ({ balance }) =>
      balance === null ? <span title={text.credits.busy}>–</span> : <Money nanodollars={balance} />,
  };
  return hasBalances ? [...columns, balance] : columns;
}

function Amount({ nanodollars }: { nanodollars: number }) {
  return (
    <span class={nanodollars > 0 ? "good" : undefined}>
      {nanodollars > 0 ? "+" : ""}
      <Money nanodollars={nanodollars} />
    </span>
  );
}

function About({ generation_id, note, expires_at, id }: LedgerRow) {
  const about = note ?? (generation_id === null ? id : "");
  return (
    <span title={[generation_id, note].filter(Boolean).join(" · ")}>
      {generation_id === null ? null : (
        <a class="mono" href={`/console/requests/${generation_id}`}>
          {shortenId(generation_id)}
        </a>
      )}
      {generation_id !== null && about !== "" ? " · " : ""}
      {about}
      {expires_at === null ? null : (
        <span class="faint">
          {" · "}
          {text.credits.ledgerColumns.expires.toLowerCase()} <Time at={expires_at} />
        </span>
      )}
    </span>
  );
}
