import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Icon } from "../../parts/values/icon.tsx";
import { Id, Money } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";

type Difference = Operations["GET /api/admin/ledger/check"]["response"]["data"][number];

/** Whether the ledger is consistent, as a green or a red line; with what is wrong in a table. */
export function LedgerCheck() {
  const { data, error, isLoading, reload } = useLoad("check", async (signal) => {
    return (await call("GET /api/admin/ledger/check", { signal })).data;
  });
  if (error !== null) return <ErrorBox error={error} onRetry={reload} />;
  if (data === null)
    return (
      <p class="check-line quiet" role="status">
        {text.credits.check.running}
      </p>
    );
  const isGood = data.length === 0;
  return (
    <>
      <div class={isGood ? "check-line good" : "check-line bad"} role="status">
        <Icon name={isGood ? "check" : "alert"} />
        <span>{isGood ? text.credits.check.good : text.credits.check.bad(data.length)}</span>
        <Button
          kind="bare"
          size="small"
          icon="refresh"
          label={text.credits.check.again}
          isBusy={isLoading}
          onClick={reload}
        />
      </div>
      {isGood ? null : (
        <section class="card">
          <Table
            hasCards
            label={text.credits.check.list}
            columns={COLUMNS}
            rows={data}
            keyOf={({ of, id }) => `${of} ${id}`}
          />
        </section>
      )}
    </>
  );
}

const { columns } = text.credits.check;

const COLUMNS: readonly Column<Difference>[] = [
  { id: "of", title: columns.of, width: 180, onCard: "title", cell: ({ of }) => text.credits.check.of[of] },
  {
    id: "id",
    title: columns.id,
    width: 200,
    wraps: true,
    onCard: "plain",
    cell: (difference) => <Concerned {...difference} />,
  },
  {
    id: "difference",
    title: columns.difference,
    width: 140,
    isNumber: true,
    onCard: "aside",
    cell: ({ difference_nanodollars }) => <Money nanodollars={difference_nanodollars} />,
  },
  { id: "reason", title: columns.reason, wraps: true, onCard: "plain", cell: ({ reason }) => reason },
];

function Concerned({ of, id }: Difference) {
  if (of === "balance") return <a href={`/console/credits/${id}`}>{id}</a>;
  if (of === "damaged") return <code>{id}</code>;
  return id.startsWith("gen_") ? <a href={`/console/requests/${id}`}>{id}</a> : <Id id={id} />;
}
