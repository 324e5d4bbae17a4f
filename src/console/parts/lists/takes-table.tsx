import type { TakenParameter } from "../../api/schema.ts";
import { text } from "../../text/text.ts";
import { printTaken } from "./print-taken.ts";
import { type Column, Table } from "./table.tsx";

const words = text.takes;

/** Shows the parameters for which an endpoint accepts only some values, with the source of each rule. */
export function TakesTable({ label, takes }: { label: string; takes: readonly TakenParameter[] }) {
  return <Table hasCards label={label} columns={COLUMNS} rows={takes} keyOf={({ parameter }) => parameter} />;
}

const COLUMNS: readonly Column<TakenParameter>[] = [
  {
    id: "parameter",
    title: words.columns.parameter,
    width: 200,
    wraps: true,
    onCard: "title",
    cell: ({ parameter }) => <span class="mono">{parameter}</span>,
    hint: ({ parameter }) => parameter,
  },
  { id: "taken", title: words.columns.taken, wraps: true, onCard: "plain", cell: printTaken },
  {
    id: "source",
    title: words.columns.source,
    width: 160,
    wraps: true,
    onCard: "plain",
    cell: ({ source }) => words.sources[source],
  },
];
