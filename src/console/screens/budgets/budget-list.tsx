import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Budget } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { usePages } from "../../state/pages.ts";
import { can, isOperator } from "../../state/session.ts";
import { useSearch } from "../../state/use-search.ts";
import { text } from "../../text/text.ts";
import { BudgetForm, type BudgetSubject } from "./budget-form.tsx";
import { BudgetTable, type ListedBudget } from "./budget-table.tsx";

const words = text.budgets;
const ROWS = 100;

/** The dialog that is open. */
export type BudgetAction =
  | { readonly kind: "make" }
  | { readonly kind: "change" | "remove"; readonly budget: Budget };

/** The budgets of an account, or of all accounts, with what is spent of each; and the dialogs that change them. */
export function BudgetList({ account }: { account: string | null }) {
  const [action, setAction] = useState<BudgetAction | null>(null);
  const search = useSearch();
  const filter = { account_id: account, search: search.sought };
  const pages = usePages<ListedBudget>(JSON.stringify(filter), (after, signal) =>
    call("GET /api/admin/budgets", { query: { ...filter, limit: ROWS, after }, signal }),
  );
  const isFiltered = search.sought !== undefined;
  return (
    <>
      <search class="list-filters">
        <SearchInput class="list-search" label={words.search} value={search.typed} onInput={search.type} />
        <span class="grow" />
        {can("manage") ? (
          <Button kind="primary" icon="plus" onClick={() => setAction({ kind: "make" })}>
            {words.make}
          </Button>
        ) : null}
      </search>
      <PagedRows
        pages={pages}
        empty={
          <Empty title={isFiltered ? words.noMatch : words.none}>
            <p>{isFiltered ? words.noMatchAbout : words.noneAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <BudgetTable
            rows={rows}
            columns={isOperator.value && account === null ? undefined : OF_ACCOUNT}
            onAction={can("manage") ? setAction : undefined}
          />
        )}
      </PagedRows>
      <BudgetDialog
        action={action}
        account={account}
        onClose={() => setAction(null)}
        onChanged={pages.reload}
      />
    </>
  );
}

/** The columns where all budgets are those of one account. */
const OF_ACCOUNT = ["name", "subject", "period", "spent", "state", "action", "resets"];

/** The dialog of an action; nothing for null. */
export function BudgetDialog(props: {
  action: BudgetAction | null;
  account: string | null;
  /** What a new budget limits; absent: it is chosen. */
  subject?: BudgetSubject;
  onClose: () => void;
  onChanged: () => void;
}) {
  const { action, account, subject, onClose, onChanged } = props;
  const saved = () => {
    onChanged();
    onClose();
  };
  if (action === null) return null;
  if (action.kind === "make")
    return <BudgetForm known={null} account={account} subject={subject} onClose={onClose} onSaved={saved} />;
  if (action.kind === "change")
    return <BudgetForm known={action.budget} account={account} onClose={onClose} onSaved={saved} />;
  return <RemoveBudget of={action.budget} onClose={onClose} onDone={saved} />;
}

/** Asks whether to delete a budget, and deletes it. */
function RemoveBudget(props: { of: Budget; onClose: () => void; onDone: () => void }) {
  const { of: budget, onClose, onDone } = props;
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await call("DELETE /api/admin/budgets/{id}", { params: { id: budget.id } });
      showToast(words.removed(budget.name));
      onDone();
    } catch (error) {
      showFailure(error);
      setBusy(false);
    }
  };
  return (
    <Confirm
      title={words.removeTitle(budget.name)}
      action={words.remove}
      isBusy={isBusy}
      onConfirm={run}
      onClose={onClose}
    >
      <p>{words.removeAbout}</p>
    </Confirm>
  );
}
