import type { UsageLine } from "../../api/schema.ts";
import {
  formatCount,
  formatExactMoney,
  formatMoney,
  formatShare,
  formatShortCount,
} from "../../parts/values/format.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import {
  cachedShare,
  changeOf,
  errorShare,
  metricOf,
  sumLines,
  sumMargins,
  type UsageTotal,
} from "./usage-lines.ts";

/** Usage by day or hour. */
type Lines = readonly UsageLine[];

interface Figure {
  readonly name: keyof typeof text.usage.totals;
  readonly value: string;
  readonly exact: string;
  readonly detail: string | null;
  readonly change: number | null;
}

/** The totals of the period, each with its change since the period before. */
export function UsageTotals({ steps, before }: { steps: Lines; before: Lines | null }) {
  return (
    <dl class="figures usage-totals">
      {[...listFigures(steps, before), ...listMargin(steps, before)].map(
        ({ name, value, exact, detail, change }) => (
          <div key={name}>
            <dt class="figure-name" title={text.usage.totalHints[name]}>
              {text.usage.totals[name]}
            </dt>
            <dd class="figure-value" title={exact}>
              {value}
            </dd>
            <dd class="figure-detail">
              {before === null ? null : <Change change={change} />}
              {detail === null ? null : <span class="faint">{detail}</span>}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

function listFigures(steps: Lines, stepsBefore: Lines | null): readonly Figure[] {
  const total = sumLines(steps);
  const before = stepsBefore === null ? null : sumLines(stepsBefore);
  const change = (of: (one: UsageTotal) => number | null) =>
    before === null ? null : changeOf(of(before), of(total));
  const tokens = (one: UsageTotal) => metricOf(one, "tokens") ?? 0;
  const failed = errorShare(total);
  const cached = cachedShare(total);
  const { cost_nanodollars: cost, upstream_cost_nanodollars: list } = total;
  return [
    {
      name: "cost",
      value: formatMoney(cost),
      exact: formatExactMoney(cost),
      detail: null,
      change: change((one) => one.cost_nanodollars),
    },
    {
      name: "requests",
      value: formatShortCount(total.requests),
      exact: formatCount(total.requests),
      detail: null,
      change: change((one) => one.requests),
    },
    {
      name: "errors",
      value: formatShortCount(total.errors),
      exact: formatCount(total.errors),
      detail: failed === null ? null : formatShare(failed),
      change: change((one) => one.errors),
    },
    {
      name: "tokens",
      value: formatShortCount(tokens(total)),
      exact: text.usage.tokensSplit(formatCount(total.tokens_prompt), formatCount(total.tokens_completion)),
      detail: null,
      change: change(tokens),
    },
    {
      name: "cached",
      value: cached === null ? "–" : formatShare(cached),
      exact: formatCount(total.tokens_cached),
      detail: null,
      change: change(cachedShare),
    },
    {
      name: "list",
      value: formatMoney(list),
      exact: formatExactMoney(list),
      detail: null,
      change: change((one) => one.upstream_cost_nanodollars),
    },
  ];
}

/** The margin, for the operator. Its change is shown against a gain only: against a loss its sign would mislead. */
function listMargin(steps: Lines, before: Lines | null): readonly Figure[] {
  const margin = sumMargins(steps);
  if (margin === null || !isOperator.value) return [];
  const marginBefore = before === null ? null : sumMargins(before);
  return [
    {
      name: "margin",
      value: formatMoney(margin),
      exact: formatExactMoney(margin),
      detail: null,
      change: marginBefore === null || marginBefore <= 0 ? null : changeOf(marginBefore, margin),
    },
  ];
}

function Change({ change }: { change: number | null }) {
  if (change === null)
    return (
      <span class="faint" title={text.usage.noChange}>
        –
      </span>
    );
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
  const value = `${sign}${formatShare(Math.abs(change))}`;
  return <span title={text.usage.change(value)}>{value}</span>;
}
