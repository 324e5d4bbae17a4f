import { call } from "../../api/client.ts";
import { AddressTabs } from "../../parts/layout/address-tabs.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, NameSkeleton, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Id } from "../../parts/values/values.tsx";
import { forgetTeams } from "../../state/accounts/teams.ts";
import { useLoad } from "../../state/load.ts";
import type { ScreenProps } from "../../state/screen.ts";
import { can, leads } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Invitations } from "../invitations/invitations.tsx";
import { LIST_PARAMETERS } from "../keys/key-filters.ts";
import { KeyList } from "../keys/key-list.tsx";
import { PolicyEditor } from "../policy/policy-editor.tsx";
import { useAccountCrumbs } from "./account-crumbs.tsx";
import { TeamMembers } from "./team-members.tsx";
import { TeamOverview } from "./team-overview.tsx";
import { TeamSettings } from "./team-settings.tsx";
import type { TeamDetails } from "./team-types.ts";

const words = text.teams;

/** One team of an organization: its usage, members, keys, policy and limits as tabs, which the address names. */
export default function Team({ params }: ScreenProps) {
  const { account = "", team = "" } = params;
  return <TeamPage key={team} organization={account} id={team} />;
}

function TeamPage({ organization, id }: { organization: string; id: string }) {
  const { data, error, reload } = useLoad(id, async (signal) => {
    const params = { id: organization, team_id: id };
    return (await call("GET /api/admin/organizations/{id}/teams/{team_id}", { params, signal })).data;
  });
  const crumbs = useAccountCrumbs(organization);
  const changed = () => {
    forgetTeams(organization);
    reload();
  };
  return (
    <Page
      title={data?.name ?? words.title}
      heading={
        <Crumbs
          list={crumbs}
          title={data?.name ?? (error === null ? <NameSkeleton /> : words.title)}
          hint={data?.name}
        >
          {leads(id) ? <Badge tone="accent">{words.youLead}</Badge> : null}
          <Id id={id} />
        </Crumbs>
      }
    >
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data !== null ? (
        <AddressTabs label={words.tabsLabel} tabs={listTabs(data, changed)} clears={LIST_PARAMETERS} />
      ) : error === null ? (
        <Skeleton lines={10} />
      ) : null}
    </Page>
  );
}

function listTabs(team: TeamDetails, onChanged: () => void) {
  const { id, organization_id: account } = team;
  return [
    { id: "overview", title: words.tabs.overview, content: <TeamOverview team={team} /> },
    {
      id: "members",
      title: words.tabs.members,
      content: (
        <div class="stack">
          <TeamMembers team={team} onChanged={onChanged} />
          {leads(id) && !can("manage_people") ? <Invitations organization={account} team={id} /> : null}
        </div>
      ),
    },
    // Other members of the team see theirs on their Home.
    ...(can("read") || leads(id)
      ? [
          {
            id: "keys",
            title: words.tabs.keys,
            content: (
              <section class="card">
                <KeyList of={{ account, team: id }} />
              </section>
            ),
          },
        ]
      : []),
    { id: "policy", title: words.tabs.policy, content: <TeamPolicy team={team} onChanged={onChanged} /> },
    {
      id: "settings",
      title: words.tabs.settings,
      content: <TeamSettings team={team} onChanged={onChanged} />,
    },
  ];
}

function TeamPolicy({ team, onChanged }: { team: TeamDetails; onChanged: () => void }) {
  const { id, organization_id: account, policy } = team;
  return (
    <div class="stack readable">
      {can("manage_people") ? null : <p class="quiet">{text.people.readOnly}</p>}
      <PolicyEditor
        id={id}
        policy={policy}
        about={words.policyAbout}
        save={(changed) =>
          call("PATCH /api/admin/organizations/{id}/teams/{team_id}", {
            params: { id: account, team_id: id },
            body: { policy: changed },
          })
        }
        onSaved={onChanged}
        triedOn={{ account_id: account, team_id: id }}
        isEditable={can("manage_people")}
      />
    </div>
  );
}
