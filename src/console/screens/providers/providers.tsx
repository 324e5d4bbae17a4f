import { useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty, ErrorBox, RowsSkeleton } from "../../parts/layout/states.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Disc } from "../../parts/values/disc.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { query, setQuery } from "../../state/location.ts";
import { useRefresh } from "../../state/refresh.ts";
import { text } from "../../text/text.ts";
import { countUsable } from "../health/health-rows.ts";
import { DrainedBadge, StateBadge } from "../health/state-badge.tsx";
import { AddProvider } from "./add-provider.tsx";
import { listProviderRows, type ProviderRow } from "./provider-rows.ts";
import { useProviders } from "./use-providers.ts";

const words = text.providers;
/** How often the health is loaded again while the list is visible. Milliseconds. */
const REFRESH_MS = 10_000;

/** `/console/providers`: the providers that this gateway calls. */
export default function Providers() {
  const providers = useProviders();
  useRefresh(providers.lists, REFRESH_MS);
  const [isAdding, setAdding] = useState(query.value["add"] !== undefined);
  const { config, lists, error, reload } = providers;
  const rows = config.data === null || lists.data === null ? null : listProviderRows(config.data, lists.data);
  const close = () => {
    setAdding(false);
    setQuery({ add: null });
    reload();
  };
  return (
    <Page
      title={words.title}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
          {words.add}
        </Button>
      }
    >
      <div class="stack">
        {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
        {rows === null ? (
          error === null ? (
            <RowsSkeleton />
          ) : null
        ) : (
          <section class="card">
            <div class="card-head">
              <p class="quiet">{words.about}</p>
            </div>
            <List rows={rows} />
          </section>
        )}
      </div>
      {isAdding ? <AddProvider onClose={close} /> : null}
    </Page>
  );
}

function List({ rows }: { rows: readonly ProviderRow[] }) {
  const isNew = rows.every(({ sources }) => sources.length === 0);
  return (
    <>
      {rows.length === 0 ? null : (
        <Table label={words.list} columns={COLUMNS} rows={rows} keyOf={({ slug }) => slug} hasCards />
      )}
      {isNew ? (
        <Empty title={words.none}>
          <p>{words.noneAbout}</p>
        </Empty>
      ) : null}
    </>
  );
}

const { columns } = words;

const COLUMNS: readonly Column<ProviderRow>[] = [
  {
    id: "provider",
    title: columns.provider,
    minWidth: 240,
    onCard: "title",
    cell: ({ slug, name }) => (
      <a class="provider-name" href={`/console/providers/${slug}`}>
        <Disc name={name} />
        <span class="cut">
          {name} <span class="faint mono">{slug}</span>
        </span>
      </a>
    ),
  },
  {
    id: "state",
    title: columns.state,
    width: 150,
    onCard: "aside",
    cell: (row) => <ProviderState row={row} />,
  },
  {
    id: "keys",
    title: columns.keys,
    isNumber: true,
    width: 80,
    cell: ({ health }) =>
      health === null || health.keys.length === 0
        ? "–"
        : words.keysUsable(countUsable(health), health.keys.length),
  },
  {
    id: "models",
    title: columns.models,
    isNumber: true,
    width: 90,
    cell: ({ slug, models }) =>
      models === 0 ? (
        "–"
      ) : (
        <a href={`/console/models?provider=${encodeURIComponent(slug)}`}>{formatCount(models)}</a>
      ),
  },
  {
    id: "source",
    title: columns.source,
    width: 240,
    hint: ({ sources }) => sources.join("\n"),
    cell: ({ sources: [first, ...others] }) =>
      first === undefined ? (
        <span class="faint">{words.builtIn}</span>
      ) : (
        <>
          {first === words.stored ? first : <code>{first}</code>}
          {others.length === 0 ? null : <span class="faint"> {words.more(others.length)}</span>}
        </>
      ),
  },
];

/** Whether a provider is in use, and how it does. */
export function ProviderState({ row: { isEnabled, health } }: { row: ProviderRow }) {
  if (!isEnabled) return <Badge>{words.disabled}</Badge>;
  if (health === null) return <StateBadge state="no_key" />;
  return health.drain === null ? <StateBadge state={health.state} /> : <DrainedBadge drain={health.drain} />;
}
