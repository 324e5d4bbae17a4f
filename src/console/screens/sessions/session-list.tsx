import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ConsoleSession } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Time } from "../../parts/values/values.tsx";
import type { Pages } from "../../state/pages.ts";
import { session, signOut } from "../../state/session.ts";
import { text } from "../../text/text.ts";

/** Browsers that are signed in, each with a button that ends its session. */
export function SessionList({ pages }: { pages: Pages<ConsoleSession> }) {
  const [ending, setEnding] = useState<ConsoleSession | null>(null);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.settings.sessions}</h2>
      </div>
      <PagedRows pages={pages} lines={3} empty={<p class="card-body quiet">{text.settings.noSessions}</p>}>
        {(rows) => (
          <Table
            hasCards
            label={text.settings.sessions}
            columns={listColumns(setEnding)}
            rows={rows}
            keyOf={({ id }) => id}
          />
        )}
      </PagedRows>
      {ending === null ? null : (
        <EndSession
          ended={ending}
          onClose={() => setEnding(null)}
          onEnded={() => {
            setEnding(null);
            pages.reload();
          }}
        />
      )}
    </section>
  );
}

function EndSession(props: { ended: ConsoleSession; onClose: () => void; onEnded: () => void }) {
  const { ended } = props;
  const [isBusy, setBusy] = useState(false);
  const end = () => {
    if (ended.is_current) return void signOut();
    setBusy(true);
    call("DELETE /api/admin/sessions/{id}", { params: { id: ended.id } }).then(
      () => {
        showToast(text.settings.ended);
        props.onEnded();
      },
      (failure: unknown) => {
        showFailure(failure);
        props.onClose();
      },
    );
  };
  return (
    <Confirm
      title={text.settings.endTitle}
      action={text.settings.end}
      isBusy={isBusy}
      onConfirm={end}
      onClose={props.onClose}
    >
      <p>{ended.is_current ? text.settings.endOwn : text.settings.endAbout(nameOf(ended))}</p>
    </Confirm>
  );
}

function nameOf({ user, key }: ConsoleSession): string {
  return user?.name ?? key.name;
}

function listColumns(end: (session: ConsoleSession) => void): readonly Column<ConsoleSession>[] {
  const { sessionColumns: titles } = text.settings;
  return [
    {
      id: "who",
      title: titles.who,
      width: 260,
      wraps: true,
      onCard: "title",
      cell: (row) => (
        <span title={`${row.key.name} (${row.key.id}), ${row.account.name}`}>
          {nameOf(row)} <span class="faint">· {row.account.name}</span>
        </span>
      ),
    },
    {
      id: "role",
      title: titles.role,
      width: 100,
      cell: ({ role }) => (role === null ? <span class="faint">–</span> : text.roles[role]),
    },
    {
      id: "browser",
      title: titles.browser,
      wraps: true,
      onCard: "plain",
      cell: ({ user_agent, is_current }) => (
        <span title={user_agent ?? undefined}>
          {is_current ? <Badge tone="accent">{text.settings.current}</Badge> : null} {user_agent ?? "–"}
        </span>
      ),
    },
    { id: "used", title: titles.used, width: 110, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { id: "created", title: titles.created, width: 110, cell: ({ created_at }) => <Time at={created_at} /> },
    { id: "ends", title: titles.ends, width: 90, cell: ({ expires_at }) => <Time at={expires_at} /> },
    {
      id: "actions",
      title: titles.actions,
      width: 90,
      onCard: "aside",
      cell: (row) => (
        <div class="row row-actions">
          <Button
            kind="bare"
            size="small"
            label={text.settings.endLabel(nameOf(row))}
            isDisabled={session.value === null}
            onClick={() => end(row)}
          >
            {text.settings.end}
          </Button>
        </div>
      ),
    },
  ];
}
