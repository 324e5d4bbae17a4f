import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatCount, formatExactTime, formatMoney } from "../../parts/values/format.ts";
import { Hour, Money, Time } from "../../parts/values/values.tsx";
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
  const isExpired = key.expires_at !== null && Date.parse(key.expires_at) <= now.peek();
  return {
    key,
    use: useOf(key.id),
    owner: findName("accounts", key.account_id) ?? key.account_id,
    state: key.revoked_at !== null ? "revoked" : isExpired ? "expired" : "active",
  };
}

/** The keys with their limits and their use. Only the operator sees whose they are. */
export function KeyTable({ rows, onAction }: { rows: readonly Row[]; onAction: OnAction }) {
  if (rows.length === 0)
    return (
      <Empty title={words.none}>
        <p>{words.noneAbout}</p>
      </Empty>
    );
  const columns = [...COLUMNS, actionsColumn(onAction)].filter(
    ({ id }) => id !== "owner" || isOperator.value,
  );
  return <Table kind="fill" label={words.title} columns={columns} rows={rows} keyOf={({ key }) => key.id} />;
}

const NAME: Column<Row> = {
  id: "name",
  title: words.name,
  cell: ({ key, state }) => (
    <span class="row" title={`${key.id}\n${words.created} ${formatExactTime(Date.parse(key.created_at))}`}>
      <span class={state === "active" ? "cut strong-name" : "cut quiet"}>{key.name}</span>
      {state === "active" ? null : <Badge tone="warn">{words.states[state]}</Badge>}
    </span>
  ),
};

const HINT: Column<Row> = {
  id: "hint",
  title: words.secret,
  width: 116,
  cell: ({ key }) => <code class="quiet">{key.hint}</code>,
};

const OWNER: Column<Row> = {
  id: "owner",
  title: words.owner,
  width: 112,
  cell: ({ owner, key }) => <span title={key.account_id}>{owner}</span>,
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
      <span title={key.models.join("\n")}>{key.models.join(", ")}</span>
    ),
};

const LIMIT: Column<Row> = {
  id: "limit",
  title: words.limit,
  width: 84,
  isNumber: true,
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
  width: 92,
  cell: ({ key }) =>
    key.last_used_at === null ? <span class="faint">{words.never}</span> : <Hour from={key.last_used_at} />,
};

const EXPIRES: Column<Row> = {
  id: "expires",
  title: words.ends,
  width: 80,
  cell: ({ key }) =>
    key.expires_at === null ? <span class="faint">{words.never}</span> : <Time at={key.expires_at} />,
};

const COLUMNS = [NAME, HINT, OWNER, MODELS, LIMIT, REQUESTS, COST, USED, EXPIRES];

function actionsColumn(onAction: OnAction): Column<Row> {
  return {
    id: "actions",
    title: words.actions,
    width: 136,
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
