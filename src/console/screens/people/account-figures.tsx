import { call } from "../../api/client.ts";
import { ShareBar } from "../../parts/charts/share-bar.tsx";
import { Figure } from "../../parts/layout/section.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { formatMoney } from "../../parts/values/format.ts";
import { Money, Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { UsageFigures } from "../usage/usage-figures.tsx";
import { sumLines } from "../usage/usage-lines.ts";
import { useDailyUsage } from "../usage/usage-panel.tsx";
import type { AccountFields } from "./change-account.ts";

const NANODOLLARS = 1e9;

/** The balance of an account, and its usage in the last 30 days and in the month of its limit. */
export function AccountFigures({ account }: { account: AccountFields }) {
  const { id, monthly_limit, created_at } = account;
  const balance = useLoad(id, async (signal) => {
    return (await call("GET /api/admin/accounts/{id}/balance", { params: { id }, signal })).data;
  });
  const of = { account_id: id };
  const usage = useDailyUsage(of);
  const failed = [balance, usage].find(({ error }) => error !== null);
  if (failed?.error) return <ErrorBox error={failed.error} onRetry={failed.reload} />;
  const month = new Date().toISOString().slice(0, 7);
  const ofMonth = usage.data?.filter(({ day }) => day?.startsWith(month));
  return (
    <dl class="figures">
      <Figure name={text.manage.balance}>
        {balance.data === null ? (
          "…"
        ) : (
          <a href={`/console/credits/${id}`}>
            <Money nanodollars={balance.data.balance_nanodollars} />
          </a>
        )}
      </Figure>
      <MonthFigure
        limit={monthly_limit ?? null}
        spent={ofMonth === undefined ? null : sumLines(ofMonth).cost_nanodollars}
      />
      <UsageFigures days={usage.data} of={of} />
      <Figure name={text.people.columns.created}>
        <Time at={created_at} />
      </Figure>
    </dl>
  );
}

/** What was spent in the month, against the limit of an organization. Nanodollars; the limit in dollars. */
function MonthFigure({ limit, spent }: { limit: number | null; spent: number | null }) {
  if (limit === null)
    return <Figure name={text.manage.monthly}>{spent === null ? "…" : <Money nanodollars={spent} />}</Figure>;
  const isReached = spent !== null && spent >= limit * NANODOLLARS;
  const shown = spent === null ? "…" : formatMoney(spent);
  return (
    <Figure name={text.manage.monthly}>
      <span class={isReached ? "bad" : undefined}>{`${shown} / ${formatMoney(limit * NANODOLLARS)}`}</span>
      <ShareBar share={limit === 0 ? 1 : (spent ?? 0) / (limit * NANODOLLARS)} isReached={isReached} />
    </Figure>
  );
}
