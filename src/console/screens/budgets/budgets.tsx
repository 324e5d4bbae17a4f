import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Budget } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { PagedList, usePages } from "../../parts/lists/paged-list.tsx";
import { loadOptions } from "../../state/names.ts";
import { isManager, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { BudgetForm } from "./budget-form.tsx";
import { BudgetTable } from "./budget-table.tsx";

const words = text.budgets;

/** The dialog that is open. */
type Action = { readonly kind: "make" } | { readonly kind: "change" | "remove"; readonly budget: Budget };

/** The budgets of the account, or of all accounts, with what is spent of each. */
export default function Budgets() {
  const [action, setAction] = useState<Action | null>(null);
  const pages = usePages("budgets", (query, signal) => call("GET /api/admin/budgets", { query, signal }));
  useNames();
  const make = (
    <Button kind="primary" icon="plus" onClick={() => setAction({ kind: "make" })}>
      {words.make}
    </Button>
  );
  return (
    <Page title={words.title} fills actions={isManager.value ? make : null}>
      <PagedList pages={pages} newer={words.newer} older={words.older}>
        {(rows) => <BudgetTable rows={rows} onAction={setAction} />}
      </PagedList>
      <ActionDialog action={action} onClose={() => setAction(null)} onChanged={pages.reload} />
    </Page>
  );
}

/** The dialog of an action; nothing for null. */
function ActionDialog(props: { action: Action | null; onClose: () => void; onChanged: () => void }) {
  const { action, onClose, onChanged } = props;
  const saved = () => {
    onChanged();
    onClose();
  };
  if (action === null) return null;
  if (action.kind === "make") return <BudgetForm known={null} onClose={onClose} onSaved={saved} />;
  if (action.kind === "change") return <BudgetForm known={action.budget} onClose={onClose} onSaved={saved} />;
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

/** Loads the names of accounts for the operator, who sees whose the budgets are, and of keys. */
function useNames(): void {
  const isForAll = isOperator.value;
  useEffect(() => {
    if (isForAll) loadOptions("accounts");
    loadOptions("keys");
  }, [isForAll]);
}
