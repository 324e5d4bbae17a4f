import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount } from "../../parts/values/format.ts";
import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { text } from "../../text/text.ts";
import { formatPerMillion } from "./model-format.ts";
import { Price } from "./model-values.tsx";

const words = text.models;
type Endpoint = ModelDetails["endpoints"][number];
type PriceRow = Endpoint["prices"][number];

/** A price row, and whose it is. */
interface Line {
  readonly row: PriceRow;
  readonly provider: string;
  readonly upstreamModel: string;
}

/** The price rows of all endpoints of a model, with the days on which they apply. */
export function PricesTable({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const lines = endpoints.flatMap(({ provider_name, upstream_model, prices }) =>
    prices.map((row): Line => ({ row, provider: provider_name, upstreamModel: upstream_model })),
  );
  if (lines.length === 0) return <p class="quiet">{words.noPrices}</p>;
  return (
    <Table
      kind="card"
      label={words.prices}
      columns={COLUMNS}
      rows={lines}
      keyOf={({ row, provider, upstreamModel }) =>
        `${provider} ${upstreamModel} ${row.from} ${row.min_prompt_tokens}`
      }
      hasCards
    />
  );
}

const COLUMNS: readonly Column<Line>[] = [
  textColumn("provider", 150, { onCard: "title", read: ({ provider }) => provider }),
  textColumn("days", 130, { onCard: "plain", read: ({ row }) => printDays(row.from, row.until) }),
  textColumn("prompt", 110, {
    onCard: "plain",
    read: ({ row: { min_prompt_tokens: from } }) =>
      from === 0 ? words.allPrompts : words.promptFrom(formatCount(from)),
  }),
  priceColumn("input", (pricing) => pricing.prompt),
  priceColumn("output", (pricing) => pricing.completion),
  priceColumn("cacheRead", (pricing) => pricing.input_cache_read),
  priceColumn("cacheWrite", (pricing) => pricing.input_cache_write),
  textColumn("other", 120, { read: ({ row }) => printOthers(row.pricing) }),
];

/** A column of texts. Rows that do not apply now are faint. */
function textColumn(
  id: keyof typeof words.priceColumns,
  minWidth: number,
  { onCard, read }: { readonly onCard?: "title" | "plain"; readonly read: (line: Line) => string },
): Column<Line> {
  return {
    id,
    title: words.priceColumns[id],
    minWidth,
    wraps: true,
    ...(onCard === undefined ? {} : { onCard }),
    cell: (line) => <span class={line.row.is_current ? undefined : "faint"}>{read(line)}</span>,
  };
}

function priceColumn(
  id: keyof typeof words.priceColumns,
  read: (pricing: PriceRow["pricing"]) => string | undefined,
): Column<Line> {
  return {
    id,
    title: words.priceColumns[id],
    isNumber: true,
    width: id === "cacheWrite" ? 100 : 84,
    cell: ({ row }) => (
      <span class={row.is_current ? undefined : "faint"}>
        <Price value={read(row.pricing)} />
      </span>
    ),
  };
}

function printDays(from: string | null, until: string | null): string {
  if (from === null) return until === null ? words.always : words.until(until);
  return until === null ? words.from(from) : words.between(from, until);
}

/** Returns the prices that have no column: `$0.01 / search`. */
function printOthers(pricing: PriceRow["pricing"]): string {
  const names = Object.entries(words.otherPrices);
  const others = names.flatMap(([name, unit]) => {
    const price = pricing[name as keyof typeof pricing];
    if (price === undefined) return [];
    const dollars = unit.startsWith("M ") ? Number(price) * 1_000_000 : Number(price);
    return [`$${formatPerMillion(dollars)} / ${unit}`];
  });
  return others.join(", ") || "–";
}
