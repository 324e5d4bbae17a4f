import { useMemo } from "preact/hooks";
import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatExactTime, formatMoney } from "../../parts/values/format.ts";
import { Age, Hour, Money, Time } from "../../parts/values/values.tsx";
import { query, setQuery } from "../../state/location.ts";
import { now } from "../../state/now.ts";
import { can, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { ListedKey } from "./key-details.ts";
import type { KeysOf } from "./key-filters.ts";
import { mayChangeKey } from "./key-rights.ts";
import { hasFormer } from "./rotate-key.tsx";

const words = text.keys;

/** What a key was used for in the last 30 days. */
export interface Use {
  readonly requests: number;
  readonly cost: number;
}

/** A key, as a row of the table shows it. */
interface Row {
  readonly key: ListedKey;
  /** Null while it is not known. */
  readonly use: Use | null;
  readonly state: "active" | "expired" | "revoked";
}

type OnAction = (action: { readonly kind: "change" | "rotate" | "revoke"; readonly key: Key }) => void;

/** Returns the row of a key. `useOf` returns null where its use is not known. */
export function toRow(key: ListedKey, useOf: (key: ListedKey) => Use | null): Row {
  return { key, use: useOf(key), state: stateOf(key) };
}

/** Whether a key can be used. */
export function stateOf({ revoked_at, expires_at }: Key): Row["state"] {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= now.peek() ? "expired" : "active";
}

/** The keys with their owners, limits, ages and use. Columns in which all keys are equal are left out. */
export function KeyTable(props: { rows: readonly Row[]; of: KeysOf; onAction: OnAction }) {
  const { rows, of, onAction } = props;
  const actions = useMemo(() => actionsColumn(onAction), [onAction]);
  const hidden = of.user === undefined ? "team" : "owner";
  const shown = COLUMNS.filter(({ id }) => id !== hidden);
  const isChanging = rows.some(({ key, state }) => state !== "revoked" && mayChangeKey(key));
  return (
    <Table
      kind="fill"
      hasCards
      label={words.title}
      columns={isChanging ? [...shown, actions] : shown}
      rows={rows}
      keyOf={({ key }) => key.id}
      order={query.value["sort"]}
      onOrder={(sort) => setQuery({ sort })}
    />
  );
}

const NAME: Column<Row> = {
  id: "name",
  title: words.name,
  minWidth: 170,
  wraps: true,
  onCard: "title",
  sortBy: ({ key }) => key.name.toLowerCase(),
  cell: ({ key, state }) => (
    <span title={`${key.id}\n${words.created} ${formatExactTime(Date.parse(key.created_at))}`}>
      <a class={state === "active" ? "strong-name" : "quiet"} href={`/console/keys/${key.id}`}>
        {key.name}
      </a>{" "}
      {key.kind === "management" ? <Badge tone="accent">{words.kinds.management}</Badge> : null}{" "}
      {state === "active" ? null : <Badge tone="warn">{words.states[state]}</Badge>}
      <code class="faint key-hint">{key.hint}</code>
    </span>
  ),
};

/** The account for the operator, then the person; below them the team. */
const OWNER: Column<Row> = {
  id: "owner",
  title: words.who,
  width: 150,
  wraps: true,
  sortBy: ({ key }) => `${key.account_name} ${key.user_name ?? ""}`.toLowerCase(),
  cell: ({ key }) => (
    <span>
      {isOperator.value ? (
        <a class="key-owner" href={`/console/people/${key.account_id}`} title={key.account_id}>
          {key.account_name ?? key.account_id}
        </a>
      ) : null}
      <PersonName of={key} />
      {key.team_id === null ? null : (
        <span class="key-team">
          <TeamLink of={key} />
        </span>
      )}
    </span>
  ),
};

function PersonName({ of: key }: { of: ListedKey }) {
  if (key.user_id === null) return <span class="faint">{words.service}</span>;
  const name = key.user_name ?? key.user_id;
  return key.account_id.startsWith("org_") && can("read") ? (
    <a href={`/console/people/${key.account_id}/members/${key.user_id}`} title={key.user_id}>
      {name}
    </a>
  ) : (
    <span title={key.user_id}>{name}</span>
  );
}

function TeamLink({ of: { account_id, team_id, team_name } }: { of: ListedKey }) {
  return (
    <a href={`/console/people/${account_id}/teams/${team_id}`} title={team_id ?? undefined}>
      {team_name ?? team_id}
    </a>
  );
}

const TEAM: Column<Row> = {
  id: "team",
  title: words.team,
  width: 120,
  wraps: true,
  sortBy: ({ key }) => key.team_name?.toLowerCase() ?? "",
  cell: ({ key }) => (key.team_id === null ? <span class="faint">–</span> : <TeamLink of={key} />),
};

const LIMIT: Column<Row> = {
  id: "limit",
  title: words.limit,
  width: 92,
  isNumber: true,
  sortBy: ({ key }) => key.spend_limit,
  cell: ({ key }) =>
    key.spend_limit === null ? (
      <span class="faint">{words.noLimit}</span>
    ) : (
      <span title={words.spendLimitPeriods[key.spend_limit_period]}>
        {formatMoney(key.spend_limit * 1e9)}
      </span>
    ),
};

const COST: Column<Row> = {
  id: "cost",
  title: words.cost,
  width: 92,
  isNumber: true,
  sortBy: ({ use }) => use?.cost,
  cell: ({ key, use }) =>
    use === null || key.kind === "management" ? (
      <span class="faint">–</span>
    ) : (
      <a href={`/console/requests?last=30d&key_id=${key.id}`} title={words.requestCount(use.requests)}>
        <Money nanodollars={use.cost} />
      </a>
    ),
};

const AGE: Column<Row> = {
  id: "age",
  title: words.age,
  width: 88,
  sortBy: ({ key }) => key.rotated_at ?? key.created_at,
  cell: ({ key }) => (
    <span>
      <Age since={key.rotated_at ?? key.created_at} />
      {hasFormer(key) ? <span class="key-hint warn">{words.twoSecrets}</span> : null}
    </span>
  ),
};

const USED: Column<Row> = {
  id: "used",
  title: words.used,
  width: 112,
  sortBy: ({ key }) => key.last_used_at,
  cell: ({ key }) =>
    key.last_used_at === null ? <span class="faint">{words.never}</span> : <Hour from={key.last_used_at} />,
};

const EXPIRES: Column<Row> = {
  id: "expires",
  title: words.ends,
  width: 84,
  sortBy: ({ key }) => key.expires_at,
  cell: ({ key }) =>
    key.expires_at === null ? <span class="faint">{words.never}</span> : <Time at={key.expires_at} />,
};

const COLUMNS = [NAME, OWNER, TEAM, LIMIT, COST, AGE, USED, EXPIRES];

const ACTIONS = [
  ["change", words.edit],
  ["rotate", words.rotate],
  ["revoke", words.revoke],
] as const;

function actionsColumn(onAction: OnAction): Column<Row> {
  return {
    id: "actions",
    title: words.actions,
    width: 190,
    onCard: "aside",
    cell: ({ key, state }) =>
      state !== "revoked" && mayChangeKey(key) ? (
        <span class="row row-actions">
          {ACTIONS.filter(([kind]) => kind !== "rotate" || state === "active").map(([kind, label]) => (
            <Button key={kind} size="small" kind="bare" onClick={() => onAction({ kind, key })}>
              {label}
            </Button>
          ))}
        </span>
      ) : null,
  };
}
