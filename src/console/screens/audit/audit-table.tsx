import type { ComponentChildren } from "preact";
import type { AuditEntry } from "../../api/schema.ts";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { shortenId } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { findName } from "../../state/names.ts";
import { text } from "../../text/text.ts";
import { pageOf, printChanges, shortenAction } from "./audit-rows.ts";

const { columns } = text.audit;

/** The entries of the audit log. A row opens with all of its entry. */
export function AuditTable({
  rows,
  onOpen,
}: {
  rows: readonly AuditEntry[];
  onOpen: (entry: AuditEntry) => void;
}) {
  return (
    <Table
      label={text.audit.list}
      columns={listColumns(onOpen)}
      rows={rows}
      keyOf={({ place }) => String(place)}
      onOpen={onOpen}
      minWidth={1_000}
    />
  );
}

/** Returns the name of a key or account if it is loaded, otherwise its short id. */
export function nameOf(id: string): string {
  return findName(id.startsWith("key_") ? "keys" : "accounts", id) ?? shortenId(id);
}

/** Who made a change: the user, the key, or a command. */
export function Who({ entry: { user_id, key_id } }: { entry: AuditEntry }) {
  const id = user_id ?? key_id;
  if (id === null) return <span class="quiet">{text.audit.command}</span>;
  return <span title={id}>{id === "key_operator" ? text.audit.operator : nameOf(id)}</span>;
}

/** A resource with a link to its page, if the console has one. */
export function Resource({ id, none }: { id: string | null; none: ComponentChildren }) {
  if (id === null) return <span class="faint">{none}</span>;
  const page = pageOf(id);
  const name = /^(key|org|user|acct)_/.test(id) ? nameOf(id) : shortenId(id);
  return page === null ? (
    <span title={id}>{name}</span>
  ) : (
    <a href={page} title={id}>
      {name}
    </a>
  );
}

function listColumns(onOpen: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  return [
    {
      id: "at",
      title: columns.at,
      width: 110,
      cell: (entry) => (
        <button
          type="button"
          class="fold"
          title={text.audit.open(String(entry.place))}
          onClick={() => onOpen(entry)}
        >
          <Time at={entry.at} />
        </button>
      ),
    },
    { id: "who", title: columns.who, width: 160, cell: (entry) => <Who entry={entry} /> },
    {
      id: "action",
      title: columns.action,
      width: 250,
      cell: ({ action }) => <code title={action}>{shortenAction(action)}</code>,
    },
    {
      id: "target",
      title: columns.target,
      width: 170,
      cell: ({ target }) => <Resource id={target} none="–" />,
    },
    {
      id: "account",
      title: columns.account,
      width: 160,
      cell: ({ account_id }) => <Resource id={account_id} none={text.audit.whole} />,
    },
    {
      id: "changes",
      title: columns.changes,
      cell: ({ changes }) => {
        const printed = printChanges(changes);
        return (
          <span class="quiet" title={printed}>
            {printed}
          </span>
        );
      },
    },
  ];
}
