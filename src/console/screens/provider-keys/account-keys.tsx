import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ProviderKey } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Time } from "../../parts/values/values.tsx";
import { usePages } from "../../state/pages.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { KeyAction } from "./key-action.ts";
import { KeyActions } from "./key-actions.tsx";
import { KeyState } from "./key-state.tsx";

const ROWS = 100;

/** The provider keys of an account (BYOK). `round` reloads them. */
export function AccountKeys({ account, round }: { account: string; round: number }) {
  const [chosen, setChosen] = useState<{ readonly action: KeyAction; readonly key: ProviderKey } | null>(
    null,
  );
  const pages = usePages(account, (after, signal) =>
    call("GET /api/admin/accounts/{id}/provider-keys", {
      params: { id: account },
      query: { limit: ROWS, after },
      signal,
    }),
  );
  useEffect(() => {
    if (round > 0) pages.reload();
  }, [round]);
  return (
    <section class="card">
      <div class="card-head">
        <p class="quiet">{text.providerKeys.about}</p>
      </div>
      <PagedRows
        pages={pages}
        empty={
          <Empty title={text.providerKeys.none}>
            <p>{text.providerKeys.noneAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            hasCards
            label={text.providerKeys.list}
            columns={
              can("manage")
                ? [...COLUMNS, actionColumn((action, key) => setChosen({ action, key }))]
                : COLUMNS
            }
            rows={rows}
            keyOf={({ id }) => id}
          />
        )}
      </PagedRows>
      {chosen === null ? null : (
        <KeyActions
          action={chosen.action}
          provider={chosen.key}
          onClose={() => setChosen(null)}
          onDone={() => {
            setChosen(null);
            pages.reload();
          }}
        />
      )}
    </section>
  );
}

const { columns } = text.providerKeys;

const COLUMNS: readonly Column<ProviderKey>[] = [
  {
    id: "provider",
    title: columns.provider,
    width: 110,
    wraps: true,
    onCard: "plain",
    cell: ({ provider }) => provider,
  },
  {
    id: "name",
    title: columns.name,
    minWidth: 150,
    wraps: true,
    onCard: "title",
    cell: ({ id, name }) => <span title={`${name} (${id})`}>{name}</span>,
  },
  {
    id: "key",
    title: columns.key,
    width: 72,
    onCard: "plain",
    cell: ({ last_four }) => <code>…{last_four}</code>,
  },
  { id: "state", title: columns.state, width: 128, onCard: "aside", cell: (key) => <KeyState {...key} /> },
  {
    id: "models",
    title: columns.models,
    width: 110,
    cell: ({ models }) =>
      models === null ? (
        <span class="faint">{text.providerKeys.allModels}</span>
      ) : (
        <span title={models.join("\n")}>{text.keys.modelCount(models.length)}</span>
      ),
  },
  {
    id: "used",
    title: columns.used,
    width: 96,
    cell: ({ last_used_at }) =>
      last_used_at === null ? (
        <span class="faint">{text.providerKeys.never}</span>
      ) : (
        <Time at={last_used_at} />
      ),
  },
];

function actionColumn(onAction: (action: KeyAction, key: ProviderKey) => void): Column<ProviderKey> {
  const labels = (key: ProviderKey): readonly (readonly [KeyAction, string])[] => [
    ["test", text.providerKeys.test],
    ["change", text.providerKeys.change],
    ["toggle", key.enabled ? text.providerKeys.disable : text.providerKeys.enable],
    ["remove", text.providerKeys.remove],
  ];
  return {
    id: "actions",
    title: "",
    isNumber: true,
    width: 286,
    onCard: "plain",
    cell: (key) => (
      <span class="row actions">
        {labels(key).map(([action, label]) => (
          <Button key={action} size="small" kind="bare" onClick={() => onAction(action, key)}>
            {label}
          </Button>
        ))}
      </span>
    ),
  };
}
