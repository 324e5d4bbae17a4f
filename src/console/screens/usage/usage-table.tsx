import type { UsageLine } from "../../api/schema.ts";
import { ShareBar, Sparkline } from "../../parts/charts/share-bar.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Count } from "../../parts/values/count.tsx";
import { formatDuration, formatShare, shortenId } from "../../parts/values/format.ts";
import { Money } from "../../parts/values/values.tsx";
import { setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import {
  cachedShare,
  idOf,
  nameOf,
  sumLines,
  sumMargins,
  timeOf,
  trendsOf,
  type UsageTotal,
} from "./usage-lines.ts";
import { DIMENSIONS, FILTERS, listSteps, requestsLink, type UsageView } from "./usage-view.ts";

/** The numbers of each model, provider, key, user or account. A line leads to its requests. */
export function UsageTable(props: {
  view: UsageView;
  lines: readonly UsageLine[];
  cells: readonly UsageLine[] | null;
  /** All usage by day or hour: lines of tags add up to more, because a request can have several. */
  steps: readonly UsageLine[];
}) {
  const { view, lines, cells, steps } = props;
  const { by, order } = view;
  const shown = DIMENSIONS.filter((name) => name !== "account" || isOperator.value);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.usage.tableLabel(text.usage.dimensions[by])}</h2>
        <span class="grow" />
        <Segments
          label={text.usage.by}
          value={by}
          choices={shown.map((value) => ({ value, label: text.usage.dimensions[value] }))}
          onChange={(value) => setQuery({ by: value })}
        />
      </div>
      <Table
        label={text.usage.tableLabel(text.usage.dimensions[by])}
        columns={listColumns(view, { lines, cells, steps })}
        rows={lines}
        keyOf={(line) => idOf(line, by) ?? ""}
        order={order}
        onOrder={(sort) => setQuery({ sort })}
        footTitle={text.usage.total}
        hasCards
      />
    </section>
  );
}

function listColumns(
  view: UsageView,
  {
    lines,
    cells,
    steps,
  }: {
    readonly lines: readonly UsageLine[];
    readonly cells: readonly UsageLine[] | null;
    readonly steps: readonly UsageLine[];
  },
): readonly Column<UsageLine>[] {
  const { columns } = text.usage;
  const total = sumLines(steps);
  const prices = [...listPriceColumns(lines, total), ...marginColumns(lines, sumMargins(steps))];
  return [
    nameColumn(view),
    // The table must fit into a window of 1,280 pixels. Amounts of money are more important than what the chart shows, too.
    ...(cells === null || prices.length > 0 ? [] : [trendColumn(view, cells)]),
    ...(prices.length > 1 ? [] : [shareColumn(total)]),
    moneyColumn("cost", columns.cost, total.cost_nanodollars, (line) => line.cost_nanodollars),
    ...prices,
    countColumn("requests", columns.requests, total.requests, ({ requests }) => requests),
    countColumn("errors", columns.errors, total.errors, ({ errors }) => errors),
    countColumn("prompt", columns.prompt, total.tokens_prompt, (line) => line.tokens_prompt),
    countColumn("completion", columns.completion, total.tokens_completion, (line) => line.tokens_completion),
    cachedColumn(total),
    ...timeColumns(lines),
  ];
}

/** The list price, if it is not what was paid: with mark-ups, and with the account's own provider keys. */
function listPriceColumns(lines: readonly UsageLine[], total: UsageTotal): readonly Column<UsageLine>[] {
  const listOf = (line: UsageTotal) => line.upstream_cost_nanodollars;
  if (lines.every((line) => listOf(line) === line.cost_nanodollars)) return [];
  return [moneyColumn("list", text.usage.columns.list, listOf(total), listOf)];
}

/** The operator's margin, if any line has one. */
function marginColumns(lines: readonly UsageLine[], total: number | null): readonly Column<UsageLine>[] {
  const marginOf = (line: UsageLine) => line.margin_nanodollars ?? 0;
  if (total === null || lines.every((line) => marginOf(line) === 0)) return [];
  return [moneyColumn("margin", text.usage.columns.margin, total, marginOf)];
}

function nameColumn(view: UsageView): Column<UsageLine> {
  const { by } = view;
  const labelOf = (line: UsageLine) => {
    const id = idOf(line, by);
    const isNamed =
      by === "model" || by === "provider" || by === "outcome" || by === "client" || by === "tag";
    return id === null ? null : (nameOf(line, by) ?? (isNamed ? id : shortenId(id)));
  };
  return {
    id: "name",
    title: text.usage.dimensions[by],
    width: 216,
    wraps: true,
    onCard: "title",
    sortBy: labelOf,
    cell: (line) => {
      const label = labelOf(line);
      const id = idOf(line, by);
      const link = requestsLink(view, id);
      if (label === null || id === null) return <span class="faint">{text.usage.none[by]}</span>;
      if (link === null) return <span title={text.usage.otherTags}>{label}</span>;
      return (
        <span class="row">
          <a href={link} title={label === id ? label : `${label} (${id})`}>
            {label}
          </a>
          {by === "outcome" ? null : <OnlyThis by={by} id={id} />}
        </span>
      );
    },
  };
}

function trendColumn({ by, period }: UsageView, cells: readonly UsageLine[]): Column<UsageLine> {
  const trends = trendsOf(cells, listSteps(period), by);
  return {
    id: "trend",
    title: text.usage.columns.trend[period.step],
    width: 64,
    onCard: "plain",
    cell: (line) => <Sparkline values={trends.get(idOf(line, by)) ?? []} width={48} />,
  };
}

/** A button that restricts the screen to a group. Accounts are chosen above. */
function OnlyThis({ by, id }: { by: keyof typeof FILTERS; id: string }) {
  return (
    <span class="row-action">
      <Button
        size="small"
        kind="bare"
        icon="search"
        label={text.usage.onlyThis}
        onClick={() => setQuery(by === "account" ? { account: id } : { [FILTERS[by]]: id })}
      />
    </span>
  );
}

function shareColumn(total: UsageTotal): Column<UsageLine> {
  const shareOf = ({ cost_nanodollars }: UsageTotal) =>
    total.cost_nanodollars === 0 ? 0 : cost_nanodollars / total.cost_nanodollars;
  return {
    id: "share",
    title: text.usage.columns.share,
    width: 76,
    cell: (line) => (
      <span class="share" title={formatShare(shareOf(line))}>
        <ShareBar share={shareOf(line)} />
        <span class="number">{formatShare(shareOf(line))}</span>
      </span>
    ),
  };
}

type NumberOf = (line: UsageLine) => number;

function countColumn(id: string, title: string, total: number, sortBy: NumberOf): Column<UsageLine> {
  return {
    id,
    title,
    isNumber: true,
    width: id === "errors" ? 60 : 72,
    sortBy,
    cell: (line) => <Count count={sortBy(line)} />,
    foot: <Count count={total} />,
  };
}

function moneyColumn(id: string, title: string, total: number, sortBy: NumberOf): Column<UsageLine> {
  const cell = (line: UsageLine) => <Money nanodollars={sortBy(line)} />;
  const onCard = id === "cost" ? "aside" : undefined;
  return { id, title, isNumber: true, width: 84, onCard, sortBy, cell, foot: <Money nanodollars={total} /> };
}

function cachedColumn(total: UsageTotal): Column<UsageLine> {
  const print = (line: UsageTotal) => {
    const share = cachedShare(line);
    return share === null ? "–" : formatShare(share);
  };
  return {
    id: "cached",
    title: text.usage.columns.cached,
    isNumber: true,
    width: 62,
    sortBy: cachedShare,
    cell: print,
    foot: print(total),
  };
}

/** Percentiles of times, if the report has any. The chart has the others. */
function timeColumns(lines: readonly UsageLine[]): readonly Column<UsageLine>[] {
  if (lines.every(({ latency_ms }) => latency_ms === null)) return [];
  const { columns } = text.usage;
  return [
    timeColumn("p50", columns.p50, (line) => timeOf(line, "latency", "p50")),
    timeColumn("p99", columns.p99, (line) => timeOf(line, "latency", "p99")),
    timeColumn("took50", columns.took50, (line) => timeOf(line, "duration", "p50")),
  ];
}

function timeColumn(id: string, title: string, read: (line: UsageLine) => number | null): Column<UsageLine> {
  return {
    id,
    title,
    isNumber: true,
    // The last column ends at the edge of the card.
    width: id === "took50" ? 88 : 76,
    sortBy: read,
    cell: (line) => formatDuration(read(line)),
  };
}
