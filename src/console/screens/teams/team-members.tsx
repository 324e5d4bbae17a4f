import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Named, Time } from "../../parts/values/values.tsx";
import { usePages } from "../../state/pages.ts";
import { can, leads } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { AddTeamMember } from "./add-team-member.tsx";
import { RemoveTeamMember } from "./remove-team-member.tsx";
import type { TeamDetails, TeamMember } from "./team-types.ts";

const words = text.teams;
const ROWS = 100;

type Action =
  | { readonly kind: "add" }
  | { readonly kind: "remove"; readonly member: TeamMember }
  | { readonly kind: "lead"; readonly member: TeamMember };

/** The members of a team. Its leads add and remove members; those who manage people also make leads. */
export function TeamMembers({ team, onChanged }: { team: TeamDetails; onChanged: () => void }) {
  const { id: team_id, organization_id: id } = team;
  const [action, setAction] = useState<Action | null>(null);
  const pages = usePages<TeamMember>(team_id, (after, signal) =>
    call("GET /api/admin/organizations/{id}/teams/{team_id}/members", {
      params: { id, team_id },
      query: { limit: ROWS, after },
      signal,
    }),
  );
  const done = () => {
    setAction(null);
    pages.reload();
    onChanged();
  };
  const act = (next: Action) => {
    if (next.kind === "lead") void saveLead(next.member).then(done, showFailure);
    else setAction(next);
  };
  const close = () => setAction(null);
  const isManaged = can("manage_people") || leads(team_id);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.members}</h2>
        <span class="grow" />
        {isManaged ? (
          <Button size="small" icon="plus" onClick={() => setAction({ kind: "add" })}>
            {words.addMember}
          </Button>
        ) : null}
      </div>
      <PagedRows
        pages={pages}
        lines={3}
        empty={
          <Empty title={words.noMembers}>
            <p>{words.noMembersAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            hasCards
            label={words.members}
            columns={isManaged ? [...COLUMNS, actionColumn(act)] : COLUMNS}
            rows={rows}
            keyOf={({ user_id }) => user_id}
          />
        )}
      </PagedRows>
      {action?.kind === "add" ? <AddTeamMember team={team} onClose={close} onDone={done} /> : null}
      {action?.kind === "remove" ? (
        <RemoveTeamMember member={action.member} onClose={close} onDone={done} />
      ) : null}
    </section>
  );
}

/** Makes a member a lead, or no longer. */
async function saveLead({ organization_id: id, team_id, user_id, user_name, is_lead }: TeamMember) {
  await call("PUT /api/admin/organizations/{id}/teams/{team_id}/members/{user_id}", {
    params: { id, team_id, user_id },
    body: { is_lead: !is_lead },
  });
  showToast(words.leadSaved(user_name ?? user_id, !is_lead));
}

const { memberColumns } = words;

const COLUMNS: readonly Column<TeamMember>[] = [
  {
    id: "user",
    title: memberColumns.user,
    minWidth: 180,
    wraps: true,
    onCard: "title",
    cell: ({ organization_id, user_id, user_name }) =>
      can("read") ? (
        <a href={`/console/people/${organization_id}/members/${user_id}`}>
          <Named id={user_id} name={user_name} />
        </a>
      ) : (
        <Named id={user_id} name={user_name} />
      ),
  },
  {
    id: "role",
    title: memberColumns.role,
    width: 110,
    cell: ({ is_lead }) => (is_lead ? <Badge tone="accent">{words.lead}</Badge> : words.member),
  },
  {
    id: "source",
    title: memberColumns.source,
    width: 140,
    cell: ({ source }) => <span title={text.people.sourcesAbout[source]}>{text.people.sources[source]}</span>,
  },
  { id: "since", title: memberColumns.since, width: 110, cell: ({ created_at }) => <Time at={created_at} /> },
];

function actionColumn(onAction: (action: Action) => void): Column<TeamMember> {
  return {
    id: "actions",
    title: "",
    width: 210,
    onCard: "aside",
    isNumber: true,
    cell: (member) => (
      <span class="row actions wide-aside">
        {can("manage_people") ? (
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "lead", member })}>
            {member.is_lead ? words.unmakeLead : words.makeLead}
          </Button>
        ) : null}
        {can("manage_people") || !member.is_lead ? (
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "remove", member })}>
            {words.remove}
          </Button>
        ) : null}
      </span>
    ),
  };
}
