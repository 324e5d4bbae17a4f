import { call } from "../../api/client.ts";
import type { Budget, Key } from "../../api/schema.ts";
import { Empty } from "../../parts/layout/states.tsx";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { useLoad } from "../../state/load.ts";
import { loadPages } from "../../state/names.ts";
import { session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { BudgetTable } from "./budget-table.tsx";

/** The budgets that all requests of a key count towards. Members may not list budgets. */
export function AppliedBudgets({ of: key }: { of: Key }) {
  if (session.value?.role === "member") return null;
  return <Budgets of={key} />;
}

function Budgets({ of: { id, account_id, user_id } }: { of: Key }) {
  const loaded = useLoad(`${account_id} ${id}`, async (signal) => {
    const all = await loadPages<Budget>((query) =>
      call("GET /api/admin/budgets", { query: { ...query, account_id }, signal }),
    );
    return all.filter(
      ({ subject, key_id, user_id: member }) =>
        subject === "account" ||
        (subject === "key" && key_id === id) ||
        (subject === "member" && member === user_id),
    );
  });
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.manage.budgets}</h2>
        <span class="grow" />
        <a href="/console/budgets">{text.budgets.title}</a>
      </div>
      <LoadedRows
        loaded={loaded}
        lines={3}
        empty={
          <Empty title={text.manage.noBudgets}>
            <p>{text.manage.noBudgetsAbout}</p>
          </Empty>
        }
      >
        {(rows) => <BudgetTable rows={rows} columns={["name", "spent", "state", "resets"]} />}
      </LoadedRows>
    </section>
  );
}
