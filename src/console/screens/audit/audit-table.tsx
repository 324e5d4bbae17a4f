import type { ComponentChildren } from "preact";
import type { AuditEntry } from "../../api/schema.ts";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { shortenId } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { entryNames } from "./audit-names.ts";
import { pageOf } from "./audit-rows.ts";
import { describeEntry } from "./audit-sentences.ts";

const { columns } = text.audit;

/** The entries of the audit log as sentences. A row opens with all of its entry. */
export function AuditTable({
  rows,
  onOpen,
}: {
  rows: readonly AuditEntry[];
  onOpen: (entry: AuditEntry) => void;
}) {
  return (
    <Table
      hasCards
      label={text.audit.list}
      columns={listColumns(onOpen).filter(({ id }) => id !== "account" || isOperator.value)}
      rows={rows}
      keyOf={({ place }) => String(place)}
      onOpen={onOpen}
    />
  );
}

/** Returns the name of a key, an account, a user or a team if it is loaded, otherwise its short id. */
function nameOf(id: string): string {
  return entryNames.value.get(id) ?? shortenId(id);
}

/** Who made a change: the user, the key, or a command. */
export function Who({ entry: { user_id, key_id } }: { entry: AuditEntry }) {
  const id = user_id ?? key_id;
  if (id === null) return <>{text.audit.command}</>;
  return <span title={id}>{id === "key_operator" ? text.audit.operator : nameOf(id)}</span>;
}

/** What was changed, as a sentence. */
export function Sentence({ entry }: { entry: AuditEntry }) {
  return (
    <span title={entry.action}>
      <strong class="strong-name">
        <Who entry={entry} />
      </strong>{" "}
      {describeEntry(entry).map((part) =>
        typeof part === "string" ? part : <Resource key={part.id} id={part.id} none="–" />,
      )}
    </span>
  );
}

/** A resource with a link to its page, if the console has one. */
export function Resource({ id, none }: { id: string | null; none: ComponentChildren }) {
  if (id === null) return <span class="faint">{none}</span>;
  const page = isOperator.value || !/^(org|user|acct)_/.test(id) ? pageOf(id) : null;
  const name = /^(key|org|user|acct|team)_/.test(id)
    ? nameOf(id)
    : /^[a-z]+_\w{20,}$/.test(id)
      ? shortenId(id)
      : id;
  return page === null ? (
    <span title={id}>{name}</span>
  ) : (
    <a class="strong-name" href={page} title={id}>
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
      onCard: "aside",
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
    {
      id: "change",
      title: columns.change,
      minWidth: 320,
      wraps: true,
      onCard: "title",
      cell: (entry) => <Sentence entry={entry} />,
    },
    {
      id: "account",
      title: columns.account,
      width: 170,
      wraps: true,
      cell: ({ account_id }) => <Resource id={account_id} none={text.audit.whole} />,
    },
  ];
}
