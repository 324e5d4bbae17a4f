import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ConfigRevision, ConfigWritten } from "../../api/schema.ts";
import { Changes } from "../../parts/config/changes.tsx";
import { formatPath } from "../../parts/config/read-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { Skeleton } from "../../parts/layout/states.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Time } from "../../parts/values/values.tsx";
import type { Option } from "../../state/filter-options.ts";
import { useForm } from "../../state/form.ts";
import { useLoad } from "../../state/load.ts";
import { useKeyOptions } from "../../state/options/account-options.ts";
import { usePages } from "../../state/pages.ts";
import { text } from "../../text/text.ts";

const ROWS = 20;
/** The account whose keys alone change the configuration. */
const OPERATOR_ACCOUNT = "acct_default";
/** How many changed settings a row names. */
const MAX_NAMED = 4;

/** The revisions of the stored configuration: when, by whom, what changed, and a way back. */
export function Revisions() {
  const keys = useKeyOptions(OPERATOR_ACCOUNT);
  const pages = usePages<ConfigRevision>("revisions", (after, signal) =>
    call("GET /api/admin/config/revisions", { query: { limit: ROWS, after }, signal }),
  );
  const [chosen, setChosen] = useState<ConfigRevision | null>(null);
  const latest = pages.rows?.[0]?.revision ?? 0;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.settings.revisions.title}</h2>
        <span class="faint">{text.settings.revisions.about}</span>
      </div>
      <PagedRows
        pages={pages}
        lines={4}
        empty={<p class="card-body quiet">{text.settings.revisions.none}</p>}
      >
        {(rows) => (
          <Table
            label={text.settings.revisions.title}
            columns={listColumns(latest, keys, setChosen)}
            rows={rows}
            keyOf={({ revision }) => String(revision)}
            hasCards
          />
        )}
      </PagedRows>
      {chosen === null ? null : (
        <CompareDialog
          revision={chosen}
          isLatest={chosen.revision === latest}
          onClose={() => setChosen(null)}
          onRestored={() => {
            setChosen(null);
            pages.reload();
          }}
        />
      )}
    </section>
  );
}

function nameCredential(keys: readonly Option[], id: string): string {
  return keys.find(({ value }) => value === id)?.label ?? id;
}

function listColumns(
  latest: number,
  keys: readonly Option[],
  onChoose: (revision: ConfigRevision) => void,
): readonly Column<ConfigRevision>[] {
  const { columns: titles } = text.settings.revisions;
  return [
    {
      id: "revision",
      title: titles.revision,
      width: 150,
      onCard: "title",
      cell: ({ revision }) => (
        <>
          <span class="strong-name">{revision}</span>{" "}
          {revision === latest ? <Badge tone="good">{text.settings.revisions.latest}</Badge> : null}
        </>
      ),
    },
    { id: "when", title: titles.when, width: 120, cell: ({ changed_at }) => <Time at={changed_at} /> },
    {
      id: "who",
      title: titles.who,
      width: 200,
      cell: ({ changed_by }) => <span title={changed_by}>{nameCredential(keys, changed_by)}</span>,
    },
    {
      id: "changed",
      title: titles.changed,
      wraps: true,
      cell: ({ changed }) => {
        if (changed.length === 0) return <span class="faint">{text.settings.revisions.onlySecrets}</span>;
        const names = changed.map(formatPath);
        const more = names.length - MAX_NAMED;
        return (
          <span title={names.join("\n")}>
            {names.slice(0, MAX_NAMED).map((name, i) => (
              <span key={name}>
                {i > 0 ? ", " : ""}
                <code>{name}</code>
              </span>
            ))}
            {more > 0 ? ` ${text.settings.revisions.more(more)}` : ""}
          </span>
        );
      },
    },
    {
      id: "compare",
      title: "",
      width: 110,
      cell: (row) => (
        <Button
          size="small"
          label={text.settings.revisions.compareLabel(row.revision)}
          onClick={() => onChoose(row)}
        >
          {text.settings.revisions.compare}
        </Button>
      ),
    },
  ];
}

/** What restoring a revision would change, its document, and the button that restores it. */
function CompareDialog(props: {
  revision: ConfigRevision;
  isLatest: boolean;
  onClose: () => void;
  onRestored: () => void;
}) {
  const { revision } = props.revision;
  const params = { revision: String(revision) };
  const { data, error } = useLoad(`revision ${revision}`, async (signal) => {
    const [found, compared] = await Promise.all([
      call("GET /api/admin/config/revisions/{revision}", { params, signal }),
      call("POST /api/admin/config/revisions/{revision}/restore", {
        params,
        query: { dry_run: "true" },
        signal,
      }),
    ]);
    return { document: found.data.document, changes: compared.data.changes };
  });
  const form = useForm<object, ConfigWritten>({
    draft: `restore ${revision}`,
    initial: {},
    fields: [],
    send: async () => (await call("POST /api/admin/config/revisions/{revision}/restore", { params })).data,
    onSent(written) {
      showToast(text.settings.savedRevision(written.revision));
      props.onRestored();
    },
  });
  return (
    <Dialog
      title={text.settings.revisions.compareTitle(revision)}
      isWide
      onClose={props.onClose}
      onSubmit={() => void form.submit()}
      foot={
        <>
          <Button onClick={props.onClose}>{text.states.close}</Button>
          {props.isLatest ? null : (
            <Button kind="primary" isSubmit isBusy={form.isBusy} isDisabled={data === null}>
              {text.settings.revisions.restore}
            </Button>
          )}
        </>
      }
    >
      <FormError error={form.error ?? error} form={form} />
      {data === null ? (
        error === null ? (
          <Skeleton lines={3} />
        ) : null
      ) : (
        <>
          <p class="quiet">{text.settings.revisions.compareAbout}</p>
          <Changes changes={data.changes} />
          <details>
            <summary>{text.settings.revisions.document}</summary>
            <pre class="breaks">{JSON.stringify(data.document, null, 2)}</pre>
          </details>
        </>
      )}
    </Dialog>
  );
}
