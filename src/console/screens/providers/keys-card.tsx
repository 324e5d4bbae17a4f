import { useState } from "preact/hooks";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { findPinned } from "../../parts/config/read-config.ts";
import { printSecret } from "../../parts/config/secret-field.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { text } from "../../text/text.ts";
import { AddKey, EditKey, RemoveKey, RotateKey } from "./key-dialogs.tsx";
import { type KeyRow, listKeyRows, pathOf } from "./provider-rows.ts";
import type { ProviderPart } from "./use-providers.ts";

const words = text.providers.provider;

type Open = "add" | { readonly action: "rotate" | "edit" | "remove"; readonly key: KeyRow };

/** The platform keys of a provider. Those of this console can be replaced, changed and removed. */
export function ProviderKeys(part: ProviderPart) {
  const { row, providers } = part;
  const [open, setOpen] = useState<Open | null>(null);
  const config = providers.config.data;
  if (config === null) return null;
  const keys = listKeyRows(row.slug, config, row.health);
  const pinned = findPinned(config, pathOf(row.slug, "api_keys"));
  const variable = keys.find((key) => key.variable !== null)?.variable ?? null;
  const done = () => {
    setOpen(null);
    providers.reload();
  };
  const dialog = { part, keys, onClose: () => setOpen(null), onDone: done };
  return (
    <section class="card" aria-label={words.keys}>
      <div class="card-head">
        <h2>{words.keys}</h2>
        {pinned === null ? null : <PinnedNote pinned={pinned} />}
        <span class="grow" />
        {pinned === null ? (
          <Button size="small" icon="plus" onClick={() => setOpen("add")}>
            {words.addKey}
          </Button>
        ) : null}
      </div>
      {keys.length === 0 ? (
        <NoKeys {...part} />
      ) : (
        <>
          <Table
            label={words.keys}
            columns={[...COLUMNS, actionColumn((action, key) => setOpen({ action, key }))]}
            rows={keys}
            keyOf={({ id }) => id}
            hasCards
          />
          <p class="card-foot quiet">{variable === null ? words.keysAbout : words.fromVariable(variable)}</p>
        </>
      )}
      {open === "add" ? <AddKey {...dialog} /> : null}
      {open !== null && open !== "add" && open.action === "rotate" ? (
        <RotateKey {...dialog} row={open.key} />
      ) : null}
      {open !== null && open !== "add" && open.action === "edit" ? (
        <EditKey {...dialog} row={open.key} />
      ) : null}
      {open !== null && open !== "add" && open.action === "remove" ? (
        <RemoveKey {...dialog} row={open.key} />
      ) : null}
    </section>
  );
}

/** A key without an id has the number of its place. */
function nameOf({ id, path }: KeyRow): string {
  return path === null ? text.providerKeys.key(Number(id) + 1) : id;
}

function NoKeys({ row, setup }: ProviderPart) {
  const isCalled = (row.health?.keys.length ?? 0) > 0;
  if (isCalled) return <p class="card-foot quiet">{words.noKeyNeeded}</p>;
  return <Empty title={words.noKeys}>{setup?.is_own_host ? null : <p>{words.noKeysAbout}</p>}</Empty>;
}

const { keyColumns } = words;

const COLUMNS: readonly Column<KeyRow>[] = [
  {
    id: "id",
    title: keyColumns.id,
    minWidth: 110,
    onCard: "title",
    cell: (key) => <code>{nameOf(key)}</code>,
  },
  {
    id: "secret",
    title: keyColumns.secret,
    width: 190,
    cell: ({ secret, pinned, variable }) =>
      secret !== null ? (
        <code>{printSecret(secret)}</code>
      ) : pinned !== null ? (
        <PinnedNote pinned={pinned} />
      ) : (
        <code>{variable ?? "–"}</code>
      ),
  },
  {
    id: "weight",
    title: keyColumns.weight,
    isNumber: true,
    width: 80,
    cell: ({ weight }) => <span title={weight === 0 ? words.fallback : undefined}>{weight}</span>,
  },
  {
    id: "state",
    title: keyColumns.state,
    width: 130,
    onCard: "aside",
    cell: ({ state }) => (
      <Badge
        tone={
          state === "ok" ? "good" : state === "disabled" ? "plain" : state === "rate_limited" ? "warn" : "bad"
        }
      >
        {words.states[state]}
      </Badge>
    ),
  },
];

function actionColumn(onAction: (action: "rotate" | "edit" | "remove", key: KeyRow) => void): Column<KeyRow> {
  const labels = [
    ["rotate", words.rotate],
    ["edit", words.editKey],
    ["remove", words.removeKey],
  ] as const;
  return {
    id: "actions",
    title: "",
    isNumber: true,
    width: 230,
    onCard: "plain",
    cell: (key) =>
      key.secret === null ? null : (
        <span class="row actions">
          {labels.map(([action, label]) =>
            action === "edit" && key.path === null ? null : (
              <Button
                key={action}
                size="small"
                kind="bare"
                label={`${label}: ${nameOf(key)}`}
                onClick={() => onAction(action, key)}
              >
                {label}
              </Button>
            ),
          )}
        </span>
      ),
  };
}
