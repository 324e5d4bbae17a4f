import { Count } from "../../parts/count.tsx";
import { formatDuration, formatShare, shortenId } from "../../parts/format.ts";
import { Segments } from "../../parts/segments.tsx";
import { ShareBar } from "../../parts/share-bar.tsx";
import { type Column, SortTable } from "../../parts/sort-table.tsx";
import { Money } from "../../parts/values.tsx";
import { setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { cachedShare, idOf, nameOf, sumLines, type UsageLine, type UsageTotal } from "./usage-lines.ts";
import { DIMENSIONS, requestsLink, type UsageView } from "./usage-view.ts";

/** The numbers of each model, provider, key, user or account. A line leads to its requests. */
export function UsageTable({ view, lines }: { view: UsageView; lines: readonly UsageLine[] }) {
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
      <SortTable
        label={text.usage.tableLabel(text.usage.dimensions[by])}
        columns={listColumns(view, lines)}
        rows={lines}
        keyOf={(line) => idOf(line, by) ?? ""}
        order={order}
        onOrder={(sort) => setQuery({ sort })}
        footTitle={text.usage.total}
      />
    </section>
  );
}

function listColumns(view: UsageView, lines: readonly UsageLine[]): readonly Column<UsageLine>[] {
  const { columns } = text.usage;
  const total = sumLines(lines);
  return [
    nameColumn(view),
    shareColumn(total),
    countColumn("requests", columns.requests, total.requests, ({ requests }) => requests),
    countColumn("errors", columns.errors, total.errors, ({ errors }) => errors),
    countColumn("prompt", columns.prompt, total.tokens_prompt, (line) => line.tokens_prompt),
    countColumn("completion", columns.completion, total.tokens_completion, (line) => line.tokens_completion),
    cachedColumn(total),
    ...latencyColumns(lines),
    moneyColumn(
      "list",
      columns.list,
      total.upstream_cost_nanodollars,
      (line) => line.upstream_cost_nanodollars,
    ),
    moneyColumn("cost", columns.cost, total.cost_nanodollars, (line) => line.cost_nanodollars),
  ];
}

function nameColumn(view: UsageView): Column<UsageLine> {
  const { by } = view;
  const labelOf = (line: UsageLine) => {
    const id = idOf(line, by);
    const isNamed = by === "model" || by === "provider";
    return id === null ? null : (nameOf(line, by) ?? (isNamed ? id : shortenId(id)));
  };
  return {
    id: "name",
    title: text.usage.dimensions[by],
    width: 220,
    sortBy: labelOf,
    cell: (line) => {
      const label = labelOf(line);
      const link = requestsLink(view, idOf(line, by));
      if (label === null || link === null) return <span class="faint">{text.usage.none[by]}</span>;
      return (
        <a href={link} title={label === idOf(line, by) ? label : `${label} (${idOf(line, by)})`}>
          {label}
        </a>
      );
    },
  };
}

function shareColumn(total: UsageTotal): Column<UsageLine> {
  const shareOf = ({ cost_nanodollars }: UsageTotal) =>
    total.cost_nanodollars === 0 ? 0 : cost_nanodollars / total.cost_nanodollars;
  return {
    id: "share",
    title: text.usage.columns.share,
    width: 120,
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
    width: 88,
    sortBy,
    cell: (line) => <Count count={sortBy(line)} />,
    foot: <Count count={total} />,
  };
}

function moneyColumn(id: string, title: string, total: number, sortBy: NumberOf): Column<UsageLine> {
  const cell = (line: UsageLine) => <Money nanodollars={sortBy(line)} />;
  return { id, title, isNumber: true, width: 88, sortBy, cell, foot: <Money nanodollars={total} /> };
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
    width: 76,
    sortBy: cachedShare,
    cell: print,
    foot: print(total),
  };
}

/** The percentiles of the time to first token, if the report has them. */
function latencyColumns(lines: readonly UsageLine[]): readonly Column<UsageLine>[] {
  if (!lines.some(({ latency_ms }) => latency_ms)) return [];
  return (["p50", "p90", "p99"] as const).map((id) => ({
    id,
    title: text.usage.columns[id],
    isNumber: true,
    width: 84,
    sortBy: ({ latency_ms }) => latency_ms?.[id],
    cell: ({ latency_ms }) => formatDuration(latency_ms?.[id] ?? null),
  }));
}
