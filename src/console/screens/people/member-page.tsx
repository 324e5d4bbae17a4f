import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { ShareBar } from "../../parts/charts/share-bar.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { AddressTabs } from "../../parts/layout/address-tabs.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Figure } from "../../parts/layout/section.tsx";
import { ErrorBox, NameSkeleton, Skeleton } from "../../parts/layout/states.tsx";
import { formatMoney } from "../../parts/values/format.ts";
import { Id, Money, Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { navigate } from "../../state/location.ts";
import { can, isOperator, isSelf } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { BudgetCard } from "../budgets/applied-budgets.tsx";
import type { ListedBudget } from "../budgets/budget-table.tsx";
import { LIST_PARAMETERS } from "../keys/key-filters.ts";
import { KeyList } from "../keys/key-list.tsx";
import { RecentRequests } from "../requests/recent-requests.tsx";
import { useAccountCrumbs } from "../teams/account-crumbs.tsx";
import { UsageFigures } from "../usage/usage-figures.tsx";
import { UsagePanel, useDailyUsage } from "../usage/usage-panel.tsx";
import { mayChangeMember, Source, TeamLinks } from "./member-facts.tsx";
import { MemberForm } from "./member-form.tsx";
import { MemberSessions } from "./member-sessions.tsx";
import { RemoveMember } from "./remove-member.tsx";

const words = text.people.memberPage;
const NANODOLLARS = 1e9;

/** A member with their teams and what they have spent today. */
type MemberDetails = Operations["GET /api/admin/organizations/{id}/members/{user_id}"]["response"]["data"];

/** One person in an organization: role, limits, budgets, keys, usage and sessions. */
export function MemberPage({ organization: id, user }: { organization: string; user: string }) {
  const [action, setAction] = useState<"change" | "remove" | null>(null);
  const { data, error, reload } = useLoad(`${id} ${user}`, async (signal) => {
    const params = { id, user_id: user };
    return (await call("GET /api/admin/organizations/{id}/members/{user_id}", { params, signal })).data;
  });
  const crumbs = useAccountCrumbs(id);
  const name = data?.user_name ?? user;
  const close = () => setAction(null);
  return (
    <Page
      title={data === null ? text.people.title : name}
      heading={
        <Crumbs
          list={crumbs}
          title={data !== null ? name : error === null ? <NameSkeleton /> : text.people.title}
          hint={data === null ? undefined : name}
        >
          <Id id={user} />
        </Crumbs>
      }
      actions={data !== null && mayChangeMember(data) ? <Actions onAction={setAction} /> : null}
    >
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data !== null ? (
        <AddressTabs label={words.tabsLabel} tabs={listTabs(data)} clears={LIST_PARAMETERS} />
      ) : error === null ? (
        <Skeleton lines={10} />
      ) : null}
      {data !== null && action === "change" ? (
        <MemberForm
          organization={id}
          member={data}
          onClose={close}
          onDone={() => {
            close();
            reload();
          }}
        />
      ) : null}
      {data !== null && action === "remove" ? (
        <RemoveMember
          organization={id}
          member={data}
          onClose={close}
          onDone={() => navigate(`/console/people/${id}?tab=members`)}
        />
      ) : null}
    </Page>
  );
}

function Actions({ onAction }: { onAction: (action: "change" | "remove") => void }) {
  return (
    <>
      <Button onClick={() => onAction("change")}>{words.change}</Button>
      <Button kind="danger" onClick={() => onAction("remove")}>
        {text.people.remove}
      </Button>
    </>
  );
}

function listTabs(member: MemberDetails) {
  const { organization_id: account, user_id: user } = member;
  const titles = words.tabs;
  return [
    { id: "overview", title: titles.overview, content: <Overview of={member} /> },
    {
      id: "keys",
      title: titles.keys,
      content: (
        <section class="card">
          <KeyList of={{ account, user }} />
        </section>
      ),
    },
    { id: "usage", title: titles.usage, content: <MemberUsage of={member} /> },
    ...(can("manage_people") || isSelf(user)
      ? [
          {
            id: "sessions",
            title: titles.sessions,
            content: <MemberSessions account={account} user={user} />,
          },
        ]
      : []),
  ];
}

function Overview({ of: member }: { of: MemberDetails }) {
  const { organization_id: account, user_id: user, teams } = member;
  const own = new Set(teams.map(({ id }) => id));
  const applies = (budget: ListedBudget) =>
    budget.subject === "account" ||
    (budget.subject === "member" && budget.user_id === user) ||
    (budget.subject === "team" && own.has(budget.team_id ?? ""));
  return (
    <div class="stack">
      <Figures of={member} />
      <BudgetCard
        account={account}
        applies={applies}
        none={words.noBudgets}
        subject={{ subject: "member", value: user }}
      />
      <Facts of={member} />
    </div>
  );
}

function Figures({ of: member }: { of: MemberDetails }) {
  const { organization_id: account_id, user_id, daily_limit, spent_today } = member;
  const of = { account_id, user_id };
  const usage = useDailyUsage(of);
  const isReached = daily_limit !== null && spent_today >= daily_limit;
  return (
    <dl class="figures">
      <Figure name={words.spentToday}>
        {daily_limit === null ? (
          <Money nanodollars={spent_today * NANODOLLARS} />
        ) : (
          <>
            <span class={isReached ? "bad" : undefined}>
              {`${formatMoney(spent_today * NANODOLLARS)} / ${formatMoney(daily_limit * NANODOLLARS)}`}
            </span>
            <ShareBar share={daily_limit === 0 ? 1 : spent_today / daily_limit} isReached={isReached} />
          </>
        )}
      </Figure>
      <UsageFigures days={usage.data} of={of} />
    </dl>
  );
}

function Facts({ of: member }: { of: MemberDetails }) {
  const { organization_id: organization, user_id, role, daily_limit, teams, source, email } = member;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.facts}</h2>
        <span class="grow" />
        {isOperator.value ? <a href={`/console/people/${user_id}`}>{words.userAccount}</a> : null}
      </div>
      <dl class="card-body facts">
        <dt>{text.people.role}</dt>
        <dd>{text.people.roles[role]}</dd>
        <dt>{words.email}</dt>
        <dd>{email ?? <span class="faint">{words.noEmail}</span>}</dd>
        <dt>{text.people.tabs.teams}</dt>
        <dd>
          {teams.length === 0 ? (
            <span class="faint">{words.noTeams}</span>
          ) : (
            <TeamLinks organization={organization} teams={teams} />
          )}
        </dd>
        <dt>{text.people.memberColumns.limit}</dt>
        <dd>
          {daily_limit === null ? (
            <span class="faint">{text.people.noLimit}</span>
          ) : (
            <Money nanodollars={daily_limit * NANODOLLARS} />
          )}
        </dd>
        <dt>{text.people.memberColumns.source}</dt>
        <dd>
          <Source of={source} />
          <p class="field-hint">{text.people.sourcesAbout[source ?? "unknown"]}</p>
        </dd>
        <dt>{text.people.memberColumns.since}</dt>
        <dd>
          <Time at={member.created_at} />
        </dd>
      </dl>
    </section>
  );
}

function MemberUsage({ of: { organization_id: account_id, user_id } }: { of: MemberDetails }) {
  const usage = useDailyUsage({ account_id, user_id });
  return (
    <div class="stack">
      <UsagePanel usage={usage} />
      <RecentRequests of={{ account_id, user_id }} />
    </div>
  );
}
