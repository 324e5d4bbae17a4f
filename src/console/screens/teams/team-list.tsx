import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { ShareBar } from "../../parts/charts/share-bar.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { SearchInput } from "../../parts/controls/search-input.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount, formatMoney } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { navigate, query, setQuery } from "../../state/location.ts";
import { loadPages } from "../../state/names.ts";
import { can } from "../../state/session.ts";
import { useSearch } from "../../state/use-search.ts";
import { text } from "../../text/text.ts";
import type { ListedBudget } from "../budgets/budget-table.tsx";
import { countRules } from "../policy/policy-form.ts";
import { NewTeam } from "./new-team.tsx";
import type { TeamDetails } from "./team-types.ts";

const words = text.teams;
const NANODOLLARS = 1e9;

/** A team with its budgets, the one that is used up most first. */
interface Row {
  readonly team: TeamDetails;
  readonly budgets: readonly ListedBudget[];
}

/** The teams of an organization with what is spent of their budgets; and the dialog that creates one. */
export function TeamList({ organization }: { organization: string }) {
  const [isMaking, setMaking] = useState(false);
  const search = useSearch();
  const sought = search.sought?.toLowerCase();
  const loaded = useTeamRows(organization);
  const rows = loaded.data?.filter(({ team }) => team.name.toLowerCase().includes(sought ?? "")) ?? null;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.title}</h2>
        <span class="grow" />
        <SearchInput class="list-search" label={words.search} value={search.typed} onInput={search.type} />
        {can("manage_people") ? (
          <Button size="small" icon="plus" onClick={() => setMaking(true)}>
            {words.make}
          </Button>
        ) : null}
      </div>
      <LoadedRows
        loaded={{ ...loaded, data: rows }}
        lines={4}
        empty={
          <Empty title={sought === undefined ? words.none : words.noMatch}>
            <p>{sought === undefined ? words.noneAbout : words.noMatchAbout}</p>
          </Empty>
        }
      >
        {(shown) => (
          <Table
            hasCards
            label={words.list}
            columns={COLUMNS}
            rows={shown}
            keyOf={({ team }) => team.id}
            order={query.value["sort"]}
            onOrder={(sort) => setQuery({ sort })}
          />
        )}
      </LoadedRows>
      {isMaking ? (
        <NewTeam
          organization={organization}
          onClose={() => setMaking(false)}
          onMade={(id) => navigate(`/console/people/${organization}/teams/${id}`)}
        />
      ) : null}
    </section>
  );
}

function useTeamRows(organization: string) {
  return useLoad<readonly Row[]>(organization, async (signal) => {
    const [teams, budgets] = await Promise.all([
      call("GET /api/admin/organizations/{id}/teams", { params: { id: organization }, signal }),
      loadPages<ListedBudget>((page) =>
        call("GET /api/admin/budgets", { query: { ...page, account_id: organization }, signal }),
      ),
    ]);
    const ofTeams = Map.groupBy(budgets, ({ team_id }) => team_id);
    return teams.data.map((team) => ({
      team,
      budgets: (ofTeams.get(team.id) ?? []).toSorted((a, b) => shareOf(b) - shareOf(a)),
    }));
  });
}

function shareOf({ spent, limit }: ListedBudget): number {
  return (spent ?? 0) / limit;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    title: words.columns.name,
    minWidth: 200,
    wraps: true,
    onCard: "title",
    sortBy: ({ team }) => team.name.toLowerCase(),
    cell: ({ team: { id, name, organization_id } }) => (
      <a href={`/console/people/${organization_id}/teams/${id}`} title={id}>
        {name}
      </a>
    ),
  },
  {
    id: "members",
    title: words.columns.members,
    width: 100,
    isNumber: true,
    sortBy: ({ team }) => team.members,
    cell: ({ team }) => formatCount(team.members),
  },
  {
    id: "policy",
    title: words.columns.policy,
    width: 160,
    sortBy: ({ team }) => countRules(team.policy),
    cell: ({ team }) => {
      const rules = countRules(team.policy);
      return rules === 0 ? (
        <span class="faint">{text.people.noPolicy}</span>
      ) : (
        <span title={describeRules(team)}>{text.people.rules(rules)}</span>
      );
    },
  },
  {
    id: "spent",
    title: words.columns.spent,
    width: 200,
    isNumber: true,
    sortBy: ({ budgets: [first] }) => (first === undefined ? -1 : shareOf(first)),
    cell: ({ budgets }) => <Spent budgets={budgets} />,
  },
  {
    id: "created",
    title: words.columns.created,
    width: 110,
    sortBy: ({ team }) => team.created_at,
    cell: ({ team }) => <Time at={team.created_at} />,
  },
];

/** The rules of a policy, one per line. */
function describeRules({ policy }: TeamDetails): string {
  return Object.entries(policy)
    .filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value === true))
    .map(([name, value]) => {
      const label = text.people[name as "allowed_models"];
      return Array.isArray(value) ? `${label}: ${value.join(", ")}` : label;
    })
    .join("\n");
}

/** What is spent of the budget that is used up most, and how many others there are. */
function Spent({ budgets: [first, ...others] }: { budgets: readonly ListedBudget[] }) {
  if (first === undefined) return <span class="faint">{words.noBudget}</span>;
  const isReached = first.state === "reached";
  return (
    <span title={first.name} class={isReached ? "bad" : undefined}>
      {`${formatMoney((first.spent ?? 0) * NANODOLLARS)} / ${formatMoney(first.limit * NANODOLLARS)}`}
      <ShareBar share={shareOf(first)} isReached={isReached} />
      {others.length === 0 ? null : <span class="faint key-hint">{words.moreBudgets(others.length)}</span>}
    </span>
  );
}
