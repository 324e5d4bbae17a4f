import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../parts/controls/button.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Money, Time } from "../../parts/values/values.tsx";
import { navigate, query, setQuery } from "../../state/location.ts";
import { usePages } from "../../state/pages.ts";
import { useSearch } from "../../state/use-search.ts";
import { text } from "../../text/text.ts";
import { countRules } from "../policy/policy-form.ts";
import type { AccountFields } from "./change-account.ts";
import { type Kind, NewAccount } from "./new-account.tsx";

const ROWS = 100;

/** All organizations or all users. */
export function AccountList() {
  const kind: Kind = query.value["kind"] === "user" ? "user" : "organization";
  const [isMaking, setMaking] = useState(false);
  const search = useSearch();
  const { sought } = search;
  const pages = usePages<AccountFields>(`${kind} ${sought ?? ""}`, (after, signal) => {
    const name = kind === "user" ? "GET /api/admin/users" : "GET /api/admin/organizations";
    return call(name, { query: { limit: ROWS, after, search: sought }, signal });
  });
  return (
    <Page
      title={text.people.title}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          {kind === "user" ? text.people.newUser : text.people.newOrganization}
        </Button>
      }
    >
      <section class="card">
        <div class="card-head">
          <Segments
            label={text.people.kind}
            value={kind}
            choices={[
              { value: "organization", label: text.lists.organizations },
              { value: "user", label: text.lists.users },
            ]}
            onChange={(value) => setQuery({ kind: value === "organization" ? null : value })}
          />
          <span class="grow" />
          <SearchInput
            class="list-search"
            label={text.people.search[kind]}
            value={search.typed}
            onInput={search.type}
          />
        </div>
        <PagedRows
          pages={pages}
          empty={
            <Empty title={sought === undefined ? text.people.none[kind] : text.people.noMatch}>
              <p>{sought === undefined ? text.people.noneAbout[kind] : text.people.noMatchAbout}</p>
            </Empty>
          }
        >
          {(rows) => (
            <Table
              hasCards
              label={text.people.list}
              columns={listColumns(kind)}
              rows={rows}
              keyOf={({ id }) => id}
              order={query.value["sort"]}
              onOrder={(sort) => setQuery({ sort })}
            />
          )}
        </PagedRows>
      </section>
      {isMaking ? (
        <NewAccount
          kind={kind}
          onClose={() => setMaking(false)}
          onMade={(id) => navigate(`/console/people/${id}`)}
        />
      ) : null}
    </Page>
  );
}

function listColumns(kind: Kind): readonly Column<AccountFields>[] {
  const { columns } = text.people;
  const dollars = (value: number | null, none: string) =>
    value === null ? <span class="faint">{none}</span> : <Money nanodollars={value * 1e9} />;
  const monthly: Column<AccountFields> = {
    id: "monthly",
    title: columns.monthly,
    isNumber: true,
    width: 120,
    sortBy: ({ monthly_limit }) => monthly_limit,
    cell: ({ monthly_limit }) => dollars(monthly_limit ?? null, text.people.noLimit),
  };
  const email: Column<AccountFields> = {
    id: "email",
    title: columns.email,
    width: 200,
    wraps: true,
    sortBy: ({ email }) => email ?? "",
    cell: ({ email }) => email,
  };
  return [
    {
      id: "name",
      title: columns.name,
      width: 240,
      wraps: true,
      onCard: "title",
      sortBy: ({ name }) => name,
      cell: ({ id, name, closed_at }) => (
        <>
          <a href={`/console/people/${id}`} title={`${name} (${id})`}>
            {name}
          </a>{" "}
          {closed_at === null ? null : <Badge>{text.lists.closed}</Badge>}
        </>
      ),
    },
    ...(kind === "user" ? [email] : []),
    {
      id: "policy",
      title: columns.policy,
      width: 160,
      sortBy: ({ policy }) => countRules(policy),
      cell: ({ policy }) => {
        const rules = countRules(policy);
        return rules === 0 ? <span class="faint">{text.people.noPolicy}</span> : text.people.rules(rules);
      },
    },
    ...(kind === "organization" ? [monthly] : []),
    {
      id: "overdraft",
      title: columns.overdraft,
      isNumber: true,
      width: 120,
      sortBy: ({ overdraft }) => overdraft,
      cell: ({ overdraft }) => dollars(overdraft, text.people.unlimited),
    },
    {
      id: "created",
      title: columns.created,
      width: 140,
      sortBy: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ];
}
