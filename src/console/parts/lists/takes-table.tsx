import type { TakenParameter } from "../../api/schema.ts";
import { text } from "../../text/text.ts";
import { printTaken } from "./print-taken.ts";
import { type Column, Table } from "./table.tsx";

const words = text.takes;

/** Shows the parameters for which an endpoint accepts only some values, with the source of each rule. */
export function TakesTable({ label, takes }: { label: string; takes: readonly TakenParameter[] }) {
  return <Table label={label} columns={COLUMNS} rows={takes} keyOf={({ parameter }) => parameter} />;
}

const COLUMNS: readonly Column<TakenParameter>[] = [
  {
    id: "parameter",
    title: words.columns.parameter,
    width: 200,
    cell: ({ parameter }) => <span class="mono">{parameter}</span>,
    hint: ({ parameter }) => parameter,
  },
  { id: "taken", title: words.columns.taken, cell: printTaken, hint: printTaken },
  { id: "source", title: words.columns.source, width: 160, cell: ({ source }) => words.sources[source] },
];
