import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { useLoad } from "../../state/load.ts";
import { loadPages } from "../../state/names.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { BudgetSubject } from "./budget-form.tsx";
import { type BudgetAction, BudgetDialog } from "./budget-list.tsx";
import { BudgetTable, type ListedBudget } from "./budget-table.tsx";

/** The columns of a narrow card, and of one whose budgets are changed there. */
const COLUMNS = ["name", "spent", "state", "resets"];
const ALL_COLUMNS = ["name", "subject", "period", "spent", "state", "action", "resets"];

/** Which budgets of an account a card shows. */
interface CardProps {
  readonly account: string;
  readonly applies: (budget: ListedBudget) => boolean;
  /** Explains an empty card. */
  readonly none: string;
  /** What a budget that is made here limits; absent: the card is narrow, and none is made here. */
  readonly subject?: BudgetSubject;
}

/** The budgets that all requests of a key count towards. */
export function AppliedBudgets({ of: { account_id, id, user_id, team_id } }: { of: Key }) {
  const applies = (budget: ListedBudget) =>
    budget.subject === "account" ||
    (budget.subject === "key" && budget.key_id === id) ||
    (budget.subject === "member" && budget.user_id === user_id) ||
    (budget.subject === "team" && budget.team_id === team_id);
  return <BudgetCard account={account_id} applies={applies} none={text.manage.noBudgetsAbout} />;
}

/** The budgets of an account that apply to a part of it, with what is spent of each. */
export function BudgetCard({ account, applies, none, subject }: CardProps) {
  const [action, setAction] = useState<BudgetAction | null>(null);
  const loaded = useLoad(account, (signal) =>
    loadPages<ListedBudget>((query) =>
      call("GET /api/admin/budgets", { query: { ...query, account_id: account }, signal }),
    ),
  );
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.manage.budgets}</h2>
        <span class="grow" />
        {subject !== undefined && can("manage") ? (
          <Button size="small" icon="plus" onClick={() => setAction({ kind: "make" })}>
            {text.budgets.make}
          </Button>
        ) : can("read") ? (
          <a href="/console/budgets">{text.budgets.title}</a>
        ) : null}
      </div>
      <LoadedRows
        loaded={{ ...loaded, data: loaded.data?.filter(applies) ?? null }}
        lines={3}
        empty={
          <Empty title={text.manage.noBudgets}>
            <p>{none}</p>
          </Empty>
        }
      >
        {(rows) => (
          <BudgetTable
            rows={rows}
            columns={subject === undefined ? COLUMNS : ALL_COLUMNS}
            onAction={subject !== undefined && can("manage") ? setAction : undefined}
          />
        )}
      </LoadedRows>
      <BudgetDialog
        action={action}
        account={account}
        subject={subject}
        onClose={() => setAction(null)}
        onChanged={loaded.reload}
      />
    </section>
  );
}
