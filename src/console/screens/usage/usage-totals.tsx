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
  withoutStep,
} from "./usage-lines.ts";
import { listSteps, previousPeriod, type UsageView } from "./usage-view.ts";

/** Usage by day or hour. */
type Lines = readonly UsageLine[];

interface Figure {
  readonly name: keyof typeof text.usage.totals;
  readonly value: string;
  readonly exact: string;
  readonly detail: string | null;
  readonly change: number | null;
}

/** Usage by day or hour that is compared. */
interface Compared {
  readonly now: Lines;
  readonly before: Lines;
}

/**
 * The totals of the period, each with its change since the period before. A day or hour that still runs is left out of the comparison, and
 * so is its counterpart in the period before.
 */
export function UsageTotals(props: { view: UsageView; steps: Lines; before: Lines | null }) {
  const { view, steps, before } = props;
  const compared =
    before === null ? null : { now: complete(steps, view), before: completeBefore(before, view) };
  return (
    <dl class="figures usage-totals">
      {[...listFigures(steps, compared), ...listMargin(steps, compared)].map(
        ({ name, value, exact, detail, change }) => (
          <div key={name}>
            <dt class="figure-name" title={text.usage.totalHints[name]}>
              {text.usage.totals[name]}
            </dt>
            <dd class="figure-value" title={exact}>
              {value}
            </dd>
            <dd class="figure-detail">
              {compared === null ? null : <Change change={change} view={view} />}
              {detail === null ? null : <span class="faint">{detail}</span>}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

const complete = (steps: Lines, { period, isRunning }: UsageView) =>
  isRunning ? withoutStep(steps, listSteps(period).at(-1)) : steps;

const completeBefore = (steps: Lines, { period, isRunning }: UsageView) =>
  isRunning ? withoutStep(steps, listSteps(previousPeriod(period)).at(-1)) : steps;

function listFigures(steps: Lines, compared: Compared | null): readonly Figure[] {
  const total = sumLines(steps);
  const [before, now] = [sumLines(compared?.before ?? []), sumLines(compared?.now ?? [])];
  const change = (of: (one: UsageTotal) => number | null) =>
    compared === null ? null : changeOf(of(before), of(now));
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
    savedFigure(total, change(savedBy)),
    {
      name: "list",
      value: formatMoney(list),
      exact: formatExactMoney(list),
      detail: null,
      change: change((one) => one.upstream_cost_nanodollars),
    },
  ];
}

function savedBy({ cache_saved_nanodollars, answers_saved_nanodollars }: UsageTotal): number {
  return cache_saved_nanodollars + answers_saved_nanodollars;
}

/** What was saved by the caches of providers, and by answers that were returned again. */
function savedFigure(total: UsageTotal, change: number | null): Figure {
  const { cache_saved_nanodollars: prompts, answers_saved_nanodollars: answers } = total;
  return {
    name: "saved",
    value: formatMoney(savedBy(total)),
    exact: text.usage.savedSplit(formatExactMoney(prompts), formatExactMoney(answers)),
    detail: answers === 0 ? null : text.usage.savedByAnswers(formatMoney(answers)),
    change,
  };
}

/** The margin, for the operator. Its change is shown against a gain only: against a loss its sign would mislead. */
function listMargin(steps: Lines, compared: Compared | null): readonly Figure[] {
  const margin = sumMargins(steps);
  if (margin === null || !isOperator.value) return [];
  const before = compared === null ? null : sumMargins(compared.before);
  const now = compared === null ? null : sumMargins(compared.now);
  return [
    {
      name: "margin",
      value: formatMoney(margin),
      exact: formatExactMoney(margin),
      detail: null,
      change: before === null || before <= 0 ? null : changeOf(before, now),
    },
  ];
}

function Change({ change, view }: { change: number | null; view: UsageView }) {
  if (change === null)
    return (
      <span class="faint" title={text.usage.noChange}>
        –
      </span>
    );
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
  const value = `${sign}${formatShare(Math.abs(change))}`;
  const about = view.isRunning ? text.usage.changeSoFar[view.period.step] : text.usage.change;
  return <span title={about(value)}>{value}</span>;
}
