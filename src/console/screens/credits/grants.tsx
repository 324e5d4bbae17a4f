import { type Column, Table } from "../../parts/lists/table.tsx";
import { Id, Money, Time } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import type { Balance } from "./balance.ts";

type Grant = Balance["grants"][number];

const { grantColumns } = text.credits;

const COLUMNS: readonly Column<Grant>[] = [
  {
    id: "expires",
    title: grantColumns.expires,
    width: 160,
    onCard: "title",
    cell: ({ expires_at }) => <Time at={expires_at} />,
  },
  { id: "id", title: grantColumns.id, onCard: "plain", cell: ({ id }) => <Id id={id} /> },
  {
    id: "left",
    title: grantColumns.left,
    isNumber: true,
    width: 160,
    onCard: "aside",
    cell: ({ left_nanodollars }) => <Money nanodollars={left_nanodollars} />,
  },
];

/** The credits that expire, the soonest first; nothing if there are none. */
export function Grants({ grants }: { grants: readonly Grant[] }) {
  if (grants.length === 0) return null;
  const rows = grants.toSorted((a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at));
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.credits.grants}</h2>
      </div>
      <Table hasCards label={text.credits.grants} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
    </section>
  );
}
