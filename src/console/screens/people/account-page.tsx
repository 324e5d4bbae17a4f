import { call } from "../../api/client.ts";
import type { Operations, Organization } from "../../api/schema.ts";
import { AddressTabs } from "../../parts/layout/address-tabs.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, NameSkeleton, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Id } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { can, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { BudgetList } from "../budgets/budget-list.tsx";
import { Invitations } from "../invitations/invitations.tsx";
import { LIST_PARAMETERS } from "../keys/key-filters.ts";
import { KeyList } from "../keys/key-list.tsx";
import { PolicyEditor } from "../policy/policy-editor.tsx";
import { RecentRequests } from "../requests/recent-requests.tsx";
import { ResponseList } from "../responses/response-list.tsx";
import { TeamList } from "../teams/team-list.tsx";
import { UsagePanel, useDailyUsage } from "../usage/usage-panel.tsx";
import { AccountFigures } from "./account-figures.tsx";
import { changeAccount } from "./change-account.ts";
import { CloseAccount } from "./close-account.tsx";
import { KeyDefaults } from "./key-defaults.tsx";
import { Limits } from "./limits.tsx";
import { MemberKeys } from "./member-keys.tsx";
import { Members } from "./members.tsx";
import { Memberships } from "./memberships.tsx";

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
        <AddressTabs
          key={data.id}
          label={text.people.tabsLabel}
          tabs={listTabs(data, reload)}
          clears={LIST_PARAMETERS}
        />
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

function listTabs(account: Account, onChanged: () => void) {
  const { id } = account;
  const titles = text.people.tabs;
  const ofOrganization = [
    { id: "members", title: titles.members, content: <Members id={id} /> },
    ...(can("inspect")
      ? [
          {
            id: "invitations",
            title: titles.invitations,
            content: <Invitations organization={id} />,
          },
        ]
      : []),
    { id: "teams", title: titles.teams, content: <TeamList organization={id} /> },
  ];
  return [
    { id: "overview", title: titles.overview, content: <Overview account={account} onChanged={onChanged} /> },
    ...("memberships" in account
      ? [
          {
            id: "memberships",
            title: titles.memberships,
            content: <Memberships memberships={account.memberships} />,
          },
        ]
      : ofOrganization),
    {
      id: "keys",
      title: titles.keys,
      content: <section class="card">{<KeyList of={{ account: id }} />}</section>,
    },
    {
      id: "budgets",
      title: titles.budgets,
      content: <section class="card">{<BudgetList account={id} />}</section>,
    },
    { id: "policy", title: titles.policy, content: <Policy account={account} onChanged={onChanged} /> },
    { id: "usage", title: titles.usage, content: <AccountUsage id={id} /> },
    {
      id: "responses",
      title: titles.responses,
      content: <section class="card">{<ResponseList account={id} />}</section>,
    },
  ];
}

type PartProps = { readonly account: Account; readonly onChanged: () => void };

function Overview({ account, onChanged }: PartProps) {
  return (
    <div class="stack readable">
      {can("manage") ? null : <p class="quiet">{text.people.readOnly}</p>}
      <AccountFigures account={account} />
      <Limits account={account} onSaved={onChanged} />
      {"member_keys" in account ? <MemberKeys account={account} onSaved={onChanged} /> : null}
      <KeyDefaults account={account} onSaved={onChanged} />
      {can("manage_owners") ? <CloseAccount account={account} onChanged={onChanged} /> : null}
    </div>
  );
}

function Policy({ account, onChanged }: PartProps) {
  return (
    <div class="stack readable">
      {can("manage") ? null : <p class="quiet">{text.people.readOnly}</p>}
      <PolicyEditor
        id={account.id}
        policy={account.policy}
        about={text.people.policyAbout}
        save={(policy) => changeAccount(account.id, { policy })}
        onSaved={onChanged}
        triedOn={{ account_id: account.id }}
        isEditable={can("manage")}
      />
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
