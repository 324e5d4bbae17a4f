import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount, shortenId } from "../../parts/values/format.ts";
import { Money } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { findName, loadOptions } from "../../state/names.ts";
import { useRefresh } from "../../state/refresh.ts";
import { text } from "../../text/text.ts";

type Hold = Operations["GET /api/admin/holds"]["response"]["data"][number];

/** The maximum number of holds that are shown, the largest first, and how often they are loaded again. */
const MAX_HOLDS = 100;
const REFRESH_MS = 5_000;

const { holdColumns: titles } = text.audit;

/** The requests that hold money now, of all accounts. */
export function AllHolds() {
  const loaded = useLoad("holds", async (signal) => {
    const { data } = await call("GET /api/admin/holds", { signal });
    if (data.length > 0) loadOptions("accounts");
    return data.toSorted((a, b) => b.amount_nanodollars - a.amount_nanodollars);
  });
  useRefresh(loaded, REFRESH_MS);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.audit.holds}</h2>
        <span class="quiet">{text.audit.holdsAbout}</span>
      </div>
      <LoadedRows loaded={loaded} lines={2} empty={<p class="card-body quiet">{text.audit.noHolds}</p>}>
        {(holds) => (
          <Table
            hasCards
            label={text.audit.holds}
            columns={listColumns(holds)}
            rows={holds.slice(0, MAX_HOLDS)}
            keyOf={({ id }) => id}
            footTitle={text.audit.holdSum(formatCount(holds.length))}
          />
        )}
      </LoadedRows>
    </section>
  );
}

function listColumns(all: readonly Hold[]): readonly Column<Hold>[] {
  const sum = all.reduce((total, { amount_nanodollars }) => total + amount_nanodollars, 0);
  return [
    {
      id: "request",
      title: titles.request,
      wraps: true,
      onCard: "title",
      cell: ({ id }) =>
        id.startsWith("gen_") ? <a href={`/console/requests/${id}`}>{id}</a> : <code>{id}</code>,
    },
    {
      id: "account",
      title: titles.account,
      width: 240,
      cell: ({ account_id }) => (
        <a href={`/console/credits/${account_id}`} title={account_id}>
          {findName("accounts", account_id) ?? shortenId(account_id)}
        </a>
      ),
    },
    {
      id: "amount",
      title: titles.amount,
      isNumber: true,
      width: 140,
      onCard: "aside",
      cell: ({ amount_nanodollars }) => <Money nanodollars={amount_nanodollars} />,
      foot: <Money nanodollars={sum} />,
    },
  ];
}
