import { useMemo } from "preact/hooks";
import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatCount, formatExactTime, formatMoney } from "../../parts/values/format.ts";
import { Hour, Money, Time } from "../../parts/values/values.tsx";
import { query, setQuery } from "../../state/location.ts";
import { findName } from "../../state/names.ts";
import { now } from "../../state/now.ts";
import { isManager, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.keys;

/** What a key was used for in the last 30 days. */
export interface Use {
  readonly requests: number;
  readonly cost: number;
}

/** A key, as a row of the table shows it. */
interface Row {
  readonly key: Key;
  /** Null while it is not known. */
  readonly use: Use | null;
  readonly owner: string;
  readonly state: "active" | "expired" | "revoked";
}

type OnAction = (action: { readonly kind: "change" | "revoke"; readonly key: Key }) => void;

/** Returns the row of a key. `useOf` returns null where its use is not known. */
export function toRow(key: Key, useOf: (keyId: string) => Use | null): Row {
  return { key, use: useOf(key.id), owner: ownerOf(key), state: stateOf(key) };
}

/** Whether a key can be used. */
export function stateOf({ revoked_at, expires_at }: Key): Row["state"] {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= now.peek() ? "expired" : "active";
}

/** The account for the operator, otherwise the member; empty for a service key. */
function ownerOf({ account_id, user_id }: Key): string {
  if (isOperator.value) return findName("accounts", account_id) ?? account_id;
  return user_id === null ? "" : (findName("users", user_id) ?? user_id);
}

/** The keys with their limits and their use. */
export function KeyTable(props: { rows: readonly Row[]; hasOwner: boolean; onAction: OnAction }) {
  const { rows, hasOwner, onAction } = props;
  const actions = useMemo(() => actionsColumn(onAction), [onAction]);
  const columns = [...(hasOwner ? COLUMNS : COLUMNS.filter(({ id }) => id !== "owner")), actions];
  return (
    <Table
      kind="fill"
      hasCards
      label={words.title}
      columns={columns}
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
  minWidth: 180,
  wraps: true,
  onCard: "title",
  sortBy: ({ key }) => key.name.toLowerCase(),
  cell: ({ key, state }) => (
    <span title={`${key.id}\n${words.created} ${formatExactTime(Date.parse(key.created_at))}`}>
      <a class={state === "active" ? "strong-name" : "quiet"} href={`/console/keys/${key.id}`}>
        {key.name}
      </a>{" "}
      {state === "active" ? null : <Badge tone="warn">{words.states[state]}</Badge>}
      <code class="faint key-hint">{key.hint}</code>
    </span>
  ),
};

const OWNER: Column<Row> = {
  id: "owner",
  title: words.owner,
  width: 140,
  wraps: true,
  sortBy: ({ owner }) => owner.toLowerCase(),
  cell: ({ owner, key }) =>
    isOperator.value ? (
      <a href={`/console/people/${key.account_id}`} title={key.account_id}>
        {owner}
      </a>
    ) : (
      <span title={key.user_id ?? words.serviceKey}>{owner === "" ? "–" : owner}</span>
    ),
};

const MODELS: Column<Row> = {
  id: "models",
  title: words.models,
  width: 116,
  cell: ({ key }) =>
    key.kind === "management" ? (
      <Badge tone="accent">{words.kinds.management}</Badge>
    ) : key.models === null ? (
      <span class="faint">{words.allModels}</span>
    ) : (
      <span title={key.models.join("\n")}>{words.modelCount(key.models.length)}</span>
    ),
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

const REQUESTS: Column<Row> = {
  id: "requests",
  title: words.requests,
  width: 88,
  isNumber: true,
  sortBy: ({ use }) => use?.requests,
  cell: ({ key, use }) =>
    key.kind === "management" ? (
      <span class="faint">–</span>
    ) : (
      <a href={`/console/requests?last=30d&key_id=${key.id}`}>
        {use === null ? "…" : formatCount(use.requests)}
      </a>
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
      <Money nanodollars={use.cost} />
    ),
};

const USED: Column<Row> = {
  id: "used",
  title: words.used,
  width: 96,
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

const COLUMNS = [NAME, OWNER, MODELS, LIMIT, REQUESTS, COST, USED, EXPIRES];

function actionsColumn(onAction: OnAction): Column<Row> {
  return {
    id: "actions",
    title: words.actions,
    width: 136,
    onCard: "aside",
    cell: ({ key, state }) =>
      isManager.value && state !== "revoked" ? (
        <span class="row row-actions">
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "change", key })}>
            {words.edit}
          </Button>
          <Button size="small" kind="bare" onClick={() => onAction({ kind: "revoke", key })}>
            {words.revoke}
          </Button>
        </span>
      ) : null,
  };
}
