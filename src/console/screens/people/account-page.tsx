import { call } from "../../api/client.ts";
import type { Operations, Organization } from "../../api/schema.ts";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, NameSkeleton, Skeleton } from "../../parts/layout/states.tsx";
import { Tabs } from "../../parts/layout/tabs.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Id } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { isManager, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { BudgetList } from "../budgets/budget-list.tsx";
import { KeyList } from "../keys/key-list.tsx";
import { RecentRequests } from "../requests/recent-requests.tsx";
import { UsagePanel, useDailyUsage } from "../usage/usage-panel.tsx";
import { AccountFigures } from "./account-figures.tsx";
import { CloseAccount } from "./close-account.tsx";
import { Limits } from "./limits.tsx";
import { Members } from "./members.tsx";
import { Memberships } from "./memberships.tsx";
import { PolicyEditor } from "./policy-editor.tsx";

/** An organization, or a user with their memberships. */
type Account = Organization | Operations["GET /api/admin/users/{id}"]["response"]["data"];

/** One organization or user: its members, limits, keys, budgets, policy and usage as tabs, which the address names. */
export function AccountPage({ id }: { id: string }) {
  const { data, error, reload } = useLoad<Account>(id, async (signal) => {
    const name = id.startsWith("org_") ? "GET /api/admin/organizations/{id}" : "GET /api/admin/users/{id}";
    return (await call(name, { params: { id }, signal })).data;
  });
  return (
    <Page
      title={data?.name ?? text.people.title}
      heading={<Heading id={id} account={data} hasFailed={error !== null} />}
    >
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data === null ? (
        error === null ? (
          <Skeleton lines={10} />
        ) : null
      ) : (
        <Sections account={data} onChanged={reload} />
      )}
    </Page>
  );
}

function Heading({ id, account, hasFailed }: { id: string; account: Account | null; hasFailed: boolean }) {
  const address = id.startsWith("org_") ? "/console/people" : "/console/people?kind=user";
  return (
    <Crumbs
      list={isOperator.value ? { title: text.people.title, address } : undefined}
      title={account?.name ?? (hasFailed ? text.people.title : <NameSkeleton />)}
      hint={account?.name}
    >
      {account?.closed_at ? <Badge tone="warn">{text.lists.closed}</Badge> : null}
      <Id id={id} />
    </Crumbs>
  );
}

function Sections({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const { id } = account;
  const tabs = listTabs(account, onChanged);
  const chosen = tabs.find((tab) => tab.id === query.value["tab"])?.id ?? "overview";
  return (
    <Tabs
      key={id}
      label={text.people.tabsLabel}
      tabs={tabs}
      value={chosen}
      // A search or an order belongs to its tab.
      onChoose={(tab) =>
        setQuery({ tab: tab === "overview" ? null : tab, q: null, sort: null, unused: null, ended: null })
      }
    />
  );
}

function listTabs(account: Account, onChanged: () => void) {
  const { id } = account;
  const titles = text.people.tabs;
  return [
    { id: "overview", title: titles.overview, content: <Overview account={account} onChanged={onChanged} /> },
    "memberships" in account
      ? {
          id: "memberships",
          title: titles.memberships,
          content: <Memberships memberships={account.memberships} />,
        }
      : { id: "members", title: titles.members, content: <Members id={id} /> },
    { id: "keys", title: titles.keys, content: <section class="card">{<KeyList account={id} />}</section> },
    {
      id: "budgets",
      title: titles.budgets,
      content: <section class="card">{<BudgetList account={id} />}</section>,
    },
    { id: "policy", title: titles.policy, content: <Policy account={account} onChanged={onChanged} /> },
    { id: "usage", title: titles.usage, content: <AccountUsage id={id} /> },
  ];
}

type PartProps = { readonly account: Account; readonly onChanged: () => void };

function Overview({ account, onChanged }: PartProps) {
  return (
    <div class="stack readable">
      {isManager.value ? null : <p class="quiet">{text.people.readOnly}</p>}
      <AccountFigures account={account} />
      <Limits account={account} onSaved={onChanged} />
      {isManager.value ? <CloseAccount account={account} onChanged={onChanged} /> : null}
    </div>
  );
}

function Policy({ account, onChanged }: PartProps) {
  return (
    <div class="stack readable">
      {isManager.value ? null : <p class="quiet">{text.people.readOnly}</p>}
      <PolicyEditor account={account} onSaved={onChanged} />
    </div>
  );
}

function AccountUsage({ id }: { id: string }) {
  const usage = useDailyUsage({ account_id: id });
  return (
    <div class="stack">
      <div class="row">
        <span class="grow" />
        <a href={`/console/usage?account=${id}`}>{text.manage.usage}</a>
      </div>
      <UsagePanel usage={usage} />
      <RecentRequests of={{ account_id: id }} />
    </div>
  );
}
