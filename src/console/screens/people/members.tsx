import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Money, Named, Time } from "../../parts/values/values.tsx";
import { usePages } from "../../state/pages.ts";
import { can } from "../../state/session.ts";
import { useSearch } from "../../state/use-search.ts";
import { text } from "../../text/text.ts";
import { mayChangeMember, Source, TeamLinks } from "./member-facts.tsx";
import { MemberForm } from "./member-form.tsx";
import { RemoveMember } from "./remove-member.tsx";

/** A member with their name. */
type Member = Operations["GET /api/admin/organizations/{id}/members"]["response"]["data"][number];

type Action = { readonly kind: "add" } | { readonly kind: "change" | "remove"; readonly member: Member };

const ROWS = 100;

/** The members of an organization; managers add, change and remove them. */
export function Members({ id }: { id: string }) {
  const [action, setAction] = useState<Action | null>(null);
  const search = useSearch();
  const { sought } = search;
  const pages = usePages(`${id} ${sought ?? ""}`, (after, signal) =>
    call("GET /api/admin/organizations/{id}/members", {
      params: { id },
      query: { limit: ROWS, after, search: sought },
      signal,
    }),
  );
  const done = () => {
    setAction(null);
    pages.reload();
  };
  const close = () => setAction(null);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.people.members}</h2>
        <span class="grow" />
        <SearchInput
          class="list-search"
          label={text.people.searchMembers}
          value={search.typed}
          onInput={search.type}
        />
        {can("manage_people") ? (
          <Button size="small" icon="plus" onClick={() => setAction({ kind: "add" })}>
            {text.people.addMember}
          </Button>
        ) : null}
      </div>
      <PagedRows
        pages={pages}
        lines={3}
        empty={
          <Empty title={sought === undefined ? text.people.noMembers : text.people.noMatch}>
            <p>{sought === undefined ? text.people.noMembersAbout : text.people.noMatchAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            hasCards
            label={text.people.members}
            columns={can("manage_people") ? [...COLUMNS, actionColumn(setAction)] : COLUMNS}
            rows={rows}
            keyOf={({ user_id }) => user_id}
          />
        )}
      </PagedRows>
      {action === null ? null : action.kind === "remove" ? (
        <RemoveMember organization={id} member={action.member} onClose={close} onDone={done} />
      ) : (
        <MemberForm
          organization={id}
          member={action.kind === "add" ? null : action.member}
          onClose={close}
          onDone={done}
        />
      )}
    </section>
  );
}

const { memberColumns } = text.people;

const COLUMNS: readonly Column<Member>[] = [
  {
    id: "user",
    title: memberColumns.user,
    minWidth: 180,
    wraps: true,
    onCard: "title",
    cell: ({ organization_id, user_id, user_name }) => (
      <a href={`/console/people/${organization_id}/members/${user_id}`}>
        <Named id={user_id} name={user_name} />
      </a>
    ),
  },
  { id: "role", title: memberColumns.role, width: 90, cell: ({ role }) => text.roles[role] },
  {
    id: "teams",
    title: memberColumns.teams,
    width: 160,
    wraps: true,
    cell: ({ organization_id, teams }) => <TeamLinks organization={organization_id} teams={teams} />,
  },
  { id: "source", title: memberColumns.source, width: 120, cell: ({ source }) => <Source of={source} /> },
  { id: "since", title: memberColumns.since, width: 96, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: "limit",
    title: memberColumns.limit,
    isNumber: true,
    width: 100,
    cell: ({ daily_limit }) =>
      daily_limit === null ? (
        <span class="faint">{text.people.noLimit}</span>
      ) : (
        <Money nanodollars={daily_limit * 1e9} />
      ),
  },
];

function actionColumn(onAction: (action: Action) => void): Column<Member> {
  return {
    id: "actions",
    title: "",
    width: 150,
    onCard: "aside",
    isNumber: true,
    cell: (member) =>
      mayChangeMember(member) ? (
        <span class="row actions">
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "change", member })}>
            {text.people.change}
          </Button>
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "remove", member })}>
            {text.people.remove}
          </Button>
        </span>
      ) : null,
  };
}
