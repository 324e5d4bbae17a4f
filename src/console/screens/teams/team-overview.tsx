import { Figure } from "../../parts/layout/section.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { printSeconds } from "../../parts/values/print-seconds.ts";
import { Time } from "../../parts/values/values.tsx";
import { can, leads } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { BudgetCard } from "../budgets/applied-budgets.tsx";
import type { ListedBudget } from "../budgets/budget-table.tsx";
import { RecentRequests } from "../requests/recent-requests.tsx";
import { UsageFigures } from "../usage/usage-figures.tsx";
import { UsagePanel, useDailyUsage } from "../usage/usage-panel.tsx";
import type { TeamDetails } from "./team-types.ts";

const words = text.teams;

/** What applies to a team, and what it has used. Its usage is shown to those who may read all of it. */
export function TeamOverview({ team }: { team: TeamDetails }) {
  const { id, organization_id: account } = team;
  const applies = (budget: ListedBudget) =>
    budget.subject === "account" || (budget.subject === "team" && budget.team_id === id);
  const seesUsage = can("read") || leads(id);
  const of = { account_id: account, team_id: id };
  const usage = useDailyUsage(seesUsage ? of : null);
  return (
    <div class="stack">
      {seesUsage ? (
        <dl class="figures">
          <Figure name={words.members}>{formatCount(team.members)}</Figure>
          <UsageFigures days={usage.data} of={of} />
        </dl>
      ) : null}
      <BudgetCard
        account={account}
        applies={applies}
        none={words.budgetsAbout}
        subject={{ subject: "team", value: id }}
      />
      <Facts team={team} />
      {seesUsage ? (
        <>
          <UsagePanel usage={usage} />
          <RecentRequests of={of} />
        </>
      ) : null}
    </div>
  );
}

function Facts({ team }: { team: TeamDetails }) {
  const { rate_limit: rate } = team;
  const count = (value: number | null) =>
    value === null ? <span class="faint">{text.keys.noLimit}</span> : formatCount(value);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.facts}</h2>
      </div>
      <dl class="card-body facts">
        <dt>{text.people.rate.requests_per_minute}</dt>
        <dd>{count(rate.requests_per_minute)}</dd>
        <dt>{text.people.rate.tokens_per_minute}</dt>
        <dd>{count(rate.tokens_per_minute)}</dd>
        <dt>{text.people.rate.concurrent}</dt>
        <dd>{count(rate.concurrent)}</dd>
        <dt>{text.people.promptLog}</dt>
        <dd>{printKept(team.prompt_log)}</dd>
        <dt>{text.people.cache}</dt>
        <dd>{printKept(team.cache)}</dd>
        <dt>{text.people.tags}</dt>
        <dd>{team.tags === null ? <span class="faint">{text.people.noTags}</span> : team.tags.join(", ")}</dd>
        <dt>{words.columns.created}</dt>
        <dd>
          <Time at={team.created_at} />
        </dd>
      </dl>
    </section>
  );
}

function printKept(seconds: number | null) {
  if (seconds === null) return <span class="faint">{words.byDefault}</span>;
  return seconds === 0 ? text.keys.never : printSeconds(seconds);
}
