import { Page } from "../../parts/layout/page.tsx";
import { text } from "../../text/text.ts";
import { BudgetList } from "./budget-list.tsx";

/** The budgets of the account, or of all accounts. */
export default function Budgets() {
  return (
    <Page title={text.budgets.title} fills>
      <BudgetList account={null} />
    </Page>
  );
}
