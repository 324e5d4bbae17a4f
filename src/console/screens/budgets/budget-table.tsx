import { useMemo } from "preact/hooks";
import type { Budget, Operations } from "../../api/schema.ts";
import { ShareBar } from "../../parts/charts/share-bar.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatMoney } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { query, setQuery } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.budgets;
const NANODOLLARS = 1e9;

/** A budget as lists have it, with the names of its account and of what it limits. */
export type ListedBudget = Operations["GET /api/admin/budgets"]["response"]["data"][number];

type OnAction = (action: { readonly kind: "change" | "remove"; readonly budget: Budget }) => void;

interface TableProps {
  readonly rows: readonly ListedBudget[];
  /** The columns to show, in their order; absent: all. */
  readonly columns?: readonly string[];
  /** Called to change or delete a budget; absent: they are only shown. */
  readonly onAction?: OnAction;
}

/** Budgets with what is spent of each. */
export function BudgetTable({ rows, columns, onAction }: TableProps) {
  const actions = useMemo(() => (onAction === undefined ? [] : [actionsColumn(onAction)]), [onAction]);
  const shown = [...COLUMNS.filter(({ id }) => columns?.includes(id) ?? true), ...actions];
  return (
    <Table
      kind="fill"
      hasCards
      label={words.title}
      columns={shown}
      rows={rows}
      keyOf={({ id }) => id}
      order={query.value["sort"]}
      onOrder={(sort) => setQuery({ sort })}
    />
  );
}

function describeSubject({
  subject,
  subject_name,
  key_id,
  user_id,
  team_id,
  ...budget
}: ListedBudget): string {
  const name = subject_name ?? key_id ?? team_id ?? user_id ?? "";
  if (subject === "account") return words.subjects.account;
  if (subject === "member") return name;
  if (subject === "key" || subject === "team") return `${words.subjectIds[subject]} ${name}`;
  const value = budget[subject];
  return value === "*" ? words.each[subject] : `${words.subjectIds[subject]} ${value}`;
}

/** The amount spent. For a budget for each end user or tag, the largest amount of one of them. Dollars. */
function spentOf({ spent, top }: Budget): number {
  return spent ?? top[0]?.spent ?? 0;
}

const NAME: Column<ListedBudget> = {
  id: "name",
  title: words.name,
  minWidth: 160,
  wraps: true,
  onCard: "title",
  sortBy: ({ name }) => name.toLowerCase(),
  cell: ({ id, name }) => (
    <span class="strong-name" title={id}>
      {name}
    </span>
  ),
};

const ACCOUNT: Column<ListedBudget> = {
  id: "account",
  title: words.account,
  width: 124,
  wraps: true,
  sortBy: ({ account_name }) => account_name?.toLowerCase(),
  cell: ({ account_id, account_name }) => <span title={account_id}>{account_name ?? account_id}</span>,
};

const SUBJECT: Column<ListedBudget> = {
  id: "subject",
  title: words.subject,
  width: 124,
  wraps: true,
  cell: (budget) => <span title={describeSubject(budget)}>{describeSubject(budget)}</span>,
};

const PERIOD: Column<ListedBudget> = {
  id: "period",
  title: words.period,
  width: 108,
  cell: ({ period, days }) => (days === null ? words.periods[period] : words.ofDays(days)),
};

const SPENT: Column<ListedBudget> = {
  id: "spent",
  title: words.spent,
  width: 168,
  isNumber: true,
  sortBy: (budget) => spentOf(budget) / budget.limit,
  cell: (budget) => {
    const spent = spentOf(budget);
    const isReached = budget.state === "reached";
    const about = budget.top[0] === undefined ? undefined : words.top(budget.top[0].value);
    return (
      <span title={about} class={isReached ? "bad" : undefined}>
        {`${formatMoney(spent * NANODOLLARS)} / ${formatMoney(budget.limit * NANODOLLARS)}`}
        <ShareBar share={spent / budget.limit} isReached={isReached} />
      </span>
    );
  },
};

const TONES = { ok: "good", warning: "warn", reached: "bad" } as const;

const STATE: Column<ListedBudget> = {
  id: "state",
  title: words.state,
  width: 84,
  sortBy: ({ state }) => ["reached", "warning", "ok"].indexOf(state),
  cell: ({ state }) => <Badge tone={TONES[state]}>{words.states[state]}</Badge>,
};

const ACTION: Column<ListedBudget> = {
  id: "action",
  title: words.atLimit,
  width: 72,
  cell: ({ action }) => <span title={words.actions[action]}>{words.shortActions[action]}</span>,
};

const RESETS: Column<ListedBudget> = {
  id: "resets",
  title: words.resets,
  width: 88,
  cell: ({ resets_at }) =>
    resets_at === null ? <span class="faint">{words.neverResets}</span> : <Time at={resets_at} />,
};

const COLUMNS = [NAME, ACCOUNT, SUBJECT, PERIOD, SPENT, STATE, ACTION, RESETS];

function actionsColumn(onAction: OnAction): Column<ListedBudget> {
  return {
    id: "actions",
    title: words.manage,
    width: 124,
    wraps: true,
    onCard: "aside",
    cell: (budget) => {
      if (budget.set_by === "operator" && !isOperator.value)
        return <span class="faint wide-aside">{words.byOperator}</span>;
      return (
        <span class="row row-actions">
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "change", budget })}>
            {words.edit}
          </Button>
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "remove", budget })}>
            {words.remove}
          </Button>
        </span>
      );
    },
  };
}
