import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Schemas } from "../../api/schema.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Check } from "../../parts/field.tsx";
import { formatCount, formatMoney } from "../../parts/format.ts";
import { Page } from "../../parts/page.tsx";
import { Empty, ErrorBox, RowsSkeleton } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { showToast } from "../../parts/toast.tsx";
import { Money, Time } from "../../parts/values.tsx";
import { toApiError, useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { forgetOptions, loadOptions, optionsOf } from "../../state/names.ts";
import { now } from "../../state/now.ts";
import { isManager, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { KeyForm, NewSecret } from "./key-form.tsx";

type Key = Schemas["Key"];

/** What a key was used for in the last 30 days. */
interface Use {
  readonly requests: number;
  readonly cost: number;
}

interface Row {
  readonly key: Key;
  readonly use: Use | null;
  readonly owner: string;
  readonly state: "active" | "expired" | "revoked";
}

const words = text.keys;
const PAGE_ROWS = 100;
const DAYS = 30;
const DAY_MS = 86_400_000;

type Action =
  | { readonly kind: "make" }
  | { readonly kind: "change" | "revoke"; readonly key: Key }
  | { readonly kind: "made"; readonly key: Key; readonly secret: string };

/** The keys that the signed-in person may see, with their limits and their use. */
export default function Keys() {
  const [action, setAction] = useState<Action | null>(null);
  const [after, setAfter] = useState<readonly string[]>([]);
  const cursor = after.at(-1) ?? null;
  const { data, error, reload } = useLoad(`keys ${cursor}`, (signal) =>
    call("GET /api/admin/keys", { query: { limit: PAGE_ROWS, after: cursor }, signal }),
  );
  const uses = useUses();
  const isForAll = isOperator.value;
  useEffect(() => {
    if (isForAll) loadOptions("accounts");
  }, [isForAll]);
  const showsEnded = query.value["ended"] === "1";
  const rows = (data?.data ?? [])
    .map((key) => toRow(key, uses))
    .filter(({ state }) => showsEnded || state === "active");
  const close = () => setAction(null);
  const saved = (key: Key, secret: string | null) => {
    forgetOptions("keys");
    reload();
    setAction(secret === null ? null : { kind: "made", key, secret });
  };
  return (
    <Page
      title={words.title}
      fills
      actions={
        <>
          <Check
            label={words.showEnded}
            isChecked={showsEnded}
            onChange={(isChecked) => setQuery({ ended: isChecked ? "1" : null })}
          />
          {isManager.value ? (
            <Button kind="primary" icon="plus" onClick={() => setAction({ kind: "make" })}>
              {words.make}
            </Button>
          ) : null}
        </>
      }
    >
      {error !== null ? (
        <div class="page-body">
          <ErrorBox error={error} onRetry={reload} />
        </div>
      ) : data === null ? (
        <RowsSkeleton />
      ) : (
        <KeyTable rows={rows} onAction={setAction} />
      )}
      {data?.next || after.length > 0 ? (
        <div class="list-end row">
          <Button isDisabled={after.length === 0} onClick={() => setAfter(after.slice(0, -1))}>
            {words.newer}
          </Button>
          <Button isDisabled={!data?.next} onClick={() => setAfter([...after, data?.next ?? ""])}>
            {words.older}
          </Button>
        </div>
      ) : null}
      {action?.kind === "make" ? <KeyForm known={null} onClose={close} onSaved={saved} /> : null}
      {action?.kind === "change" ? <KeyForm known={action.key} onClose={close} onSaved={saved} /> : null}
      {action?.kind === "made" ? (
        <NewSecret secret={action.secret} made={action.key} onClose={close} />
      ) : null}
      {action?.kind === "revoke" ? <Revoke of={action.key} onClose={close} onDone={reload} /> : null}
    </Page>
  );
}

/** The requests and costs of the last days by key; null while they are not known. */
function useUses(): ReadonlyMap<string, Use> | null {
  const { data } = useLoad("uses", (signal) =>
    call("GET /api/admin/usage", {
      query: {
        from: new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10),
        group_by: "key",
      },
      signal,
    }),
  );
  if (data === null) return null;
  return new Map(
    data.data.map((line) => [line.key ?? "", { requests: line.requests, cost: line.cost_nanodollars }]),
  );
}

function toRow(key: Key, uses: ReadonlyMap<string, Use> | null): Row {
  const isExpired = key.expires_at !== null && Date.parse(key.expires_at) <= now.peek();
  return {
    key,
    use: uses === null ? null : (uses.get(key.id) ?? { requests: 0, cost: 0 }),
    owner: optionsOf("accounts").find(({ value }) => value === key.account_id)?.label ?? key.account_id,
    state: key.revoked_at !== null ? "revoked" : isExpired ? "expired" : "active",
  };
}

function KeyTable({ rows, onAction }: { rows: readonly Row[]; onAction: (action: Action) => void }) {
  if (rows.length === 0)
    return (
      <Empty title={words.none}>
        <p>{words.noneAbout}</p>
      </Empty>
    );
  const columns = listColumns(onAction).filter(({ id }) => id !== "owner" || isOperator.value);
  return <Table kind="fill" label={words.title} columns={columns} rows={rows} keyOf={({ key }) => key.id} />;
}

function listColumns(onAction: (action: Action) => void): readonly Column<Row>[] {
  return [
    {
      id: "name",
      title: words.name,
      cell: ({ key, state }) => (
        <span class="row" title={key.id}>
          <span class={state === "active" ? "cut strong-name" : "cut quiet"}>{key.name}</span>
          {key.kind === "management" ? <Badge tone="accent">{words.kinds.management}</Badge> : null}
          {state === "active" ? null : <Badge tone="warn">{words.states[state]}</Badge>}
        </span>
      ),
    },
    { id: "hint", title: words.secret, width: 112, cell: ({ key }) => <code class="quiet">{key.hint}</code> },
    {
      id: "owner",
      title: words.owner,
      width: 132,
      cell: ({ owner, key }) => <span title={key.account_id}>{owner}</span>,
    },
    {
      id: "models",
      title: words.models,
      width: 96,
      cell: ({ key }) =>
        key.models === null ? (
          <span class="faint">{key.kind === "inference" ? words.allModels : "–"}</span>
        ) : (
          <span title={key.models.join("\n")}>{key.models.join(", ")}</span>
        ),
    },
    {
      id: "limit",
      title: words.limit,
      width: 84,
      isNumber: true,
      cell: ({ key }) =>
        key.spend_limit === null ? (
          <span class="faint">{words.noLimit}</span>
        ) : (
          formatMoney(key.spend_limit * 1e9)
        ),
    },
    {
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
    },
    {
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
    },
    { id: "created", title: words.created, width: 92, cell: ({ key }) => <Time at={key.created_at} /> },
    {
      id: "used",
      title: words.used,
      width: 104,
      cell: ({ key }) =>
        key.last_used_at === null ? (
          <span class="faint">{words.never}</span>
        ) : (
          <span title={words.usedAbout}>
            <Time at={key.last_used_at} />
          </span>
        ),
    },
    {
      id: "expires",
      title: words.ends,
      width: 92,
      cell: ({ key }) =>
        key.expires_at === null ? <span class="faint">{words.never}</span> : <Time at={key.expires_at} />,
    },
    {
      id: "actions",
      title: words.actions,
      width: 140,
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
    },
  ];
}

function Revoke({ of: key, onClose, onDone }: { of: Key; onClose: () => void; onDone: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await call("DELETE /api/admin/keys/{id}", { params: { id: key.id } });
      showToast(words.revoked(key.name));
      forgetOptions("keys");
      onDone();
      onClose();
    } catch (error) {
      showToast(toApiError(error).message, { isError: true });
      setBusy(false);
    }
  };
  return (
    <Confirm
      title={words.revokeTitle(key.name)}
      action={words.revoke}
      isBusy={isBusy}
      onConfirm={run}
      onClose={onClose}
    >
      <p>{words.revokeAbout}</p>
    </Confirm>
  );
}
