import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Money } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";

type Hold = Operations["GET /api/admin/holds"]["response"]["data"][number];

/** The maximum number of holds that are shown, the largest first. */
const MAX_HOLDS = 50;

const COLUMNS: readonly Column<Hold>[] = [
  {
    id: "request",
    title: text.credits.holdColumns.request,
    wraps: true,
    onCard: "title",
    cell: ({ id }) =>
      id.startsWith("gen_") ? <a href={`/console/requests/${id}`}>{id}</a> : <code>{id}</code>,
  },
  {
    id: "amount",
    title: text.credits.holdColumns.amount,
    isNumber: true,
    width: 160,
    onCard: "aside",
    cell: ({ amount_nanodollars }) => <Money nanodollars={amount_nanodollars} />,
  },
];

/** The requests that hold money of an account now. */
export function Holds({ id }: { id: string }) {
  const { data } = useLoad(id, async (signal) => {
    const found = await call("GET /api/admin/holds", { signal });
    const own = found.data.filter(({ account_id }) => account_id === id);
    return own.toSorted((a, b) => b.amount_nanodollars - a.amount_nanodollars).slice(0, MAX_HOLDS);
  });
  if (data === null || data.length === 0) return null;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.credits.holds}</h2>
      </div>
      <Table hasCards label={text.credits.holds} columns={COLUMNS} rows={data} keyOf={(hold) => hold.id} />
    </section>
  );
}
