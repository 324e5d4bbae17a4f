import { call } from "../../api/client.ts";
import type { Operations, Organization } from "../../api/schema.ts";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, NameSkeleton, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Id } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { isManager, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { CloseAccount } from "./close-account.tsx";
import { Limits } from "./limits.tsx";
import { Members } from "./members.tsx";
import { Memberships } from "./memberships.tsx";
import { PolicyEditor } from "./policy-editor.tsx";

/** An organization, or a user with their memberships. */
type Account = Organization | Operations["GET /api/admin/users/{id}"]["response"]["data"];

/** One organization or user: members, limits, policy, and whether it is open. */
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
  return (
    <div class="crumbs">
      {isOperator.value ? (
        <>
          <a href={id.startsWith("org_") ? "/console/people" : "/console/people?kind=user"}>
            {text.people.title}
          </a>
          <span class="faint">/</span>
        </>
      ) : null}
      <h1 class="cut" title={account?.name}>
        {account?.name ?? (hasFailed ? text.people.title : <NameSkeleton />)}
      </h1>
      {account?.closed_at ? <Badge tone="warn">{text.lists.closed}</Badge> : null}
      <Id id={id} />
    </div>
  );
}

function Sections({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const { id } = account;
  return (
    <div class="stack readable">
      {isManager.value ? null : <p class="quiet">{text.people.readOnly}</p>}
      {"memberships" in account ? <Memberships memberships={account.memberships} /> : <Members id={id} />}
      <Limits account={account} onSaved={onChanged} />
      <PolicyEditor account={account} onSaved={onChanged} />
      {isManager.value ? <CloseAccount account={account} onChanged={onChanged} /> : null}
    </div>
  );
}
