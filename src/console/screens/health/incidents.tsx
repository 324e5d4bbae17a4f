import { call } from "../../api/client.ts";
import type { Incident } from "../../api/schema.ts";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { usePages } from "../../state/pages.ts";
import { useRefresh } from "../../state/refresh.ts";
import { text } from "../../text/text.ts";
import { describeFailures, printLasted } from "./history-rows.ts";

const words = text.health.incidents;
const { columns: titles } = words;

const PAGE_ROWS = 10;
/** How often the list is loaded again while only its first page is shown. Milliseconds. */
const REFRESH_MS = 10_000;

/** The incidents of all providers, newest first. `nameOf` returns the name of a provider. */
export function Incidents({ nameOf }: { nameOf: (provider: string) => string }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.title}</h2>
        <span class="quiet">{words.about}</span>
      </div>
      <IncidentRows provider={null} columns={listColumns(nameOf)} />
    </section>
  );
}

/** The incidents of one provider. */
export function ProviderIncidents({ provider }: { provider: string }) {
  return <IncidentRows provider={provider} columns={OWN_COLUMNS} />;
}

function IncidentRows(props: { provider: string | null; columns: readonly Column<Incident>[] }) {
  const { provider, columns } = props;
  const filter = provider === null ? {} : { provider };
  const pages = usePages(`incidents ${provider}`, (after, signal) =>
    call("GET /api/admin/incidents", {
      query: { limit: PAGE_ROWS, ...filter, ...(after === null ? {} : { after }) },
      signal,
    }),
  );
  const isFirst = (pages.rows?.length ?? 0) <= PAGE_ROWS;
  useRefresh({ ...pages, data: null, isStale: false, reload: isFirst ? pages.reload : ignore }, REFRESH_MS);
  const empty = <p class={provider === null ? "card-body quiet" : "quiet"}>{words.none}</p>;
  return (
    <PagedRows pages={pages} lines={2} empty={empty}>
      {(rows) => <Table hasCards label={words.title} columns={columns} rows={rows} keyOf={({ id }) => id} />}
    </PagedRows>
  );
}

function ignore(): void {}

const OWN_COLUMNS: readonly Column<Incident>[] = [
  {
    id: "level",
    title: titles.level,
    width: 96,
    onCard: "aside",
    cell: ({ level }) => <Badge tone={level === "down" ? "bad" : "warn"}>{words.levels[level]}</Badge>,
    hint: ({ level, models }) => `${words.levelHints[level]} ${models.join(", ")}`.trim(),
  },
  { id: "began", title: titles.began, width: 92, cell: ({ began_at }) => <Time at={began_at} /> },
  {
    id: "ended",
    title: titles.ended,
    width: 92,
    cell: ({ ended_at, ended_by }) =>
      ended_at === null ? (
        <span class="bad">{words.lasts}</span>
      ) : (
        <>
          <Time at={ended_at} />
          {ended_by === "unobserved" ? <abbr title={words.unobserved}> *</abbr> : null}
        </>
      ),
  },
  { id: "lasted", title: titles.lasted, width: 104, isNumber: true, cell: printLasted },
  {
    id: "failures",
    title: titles.failures,
    minWidth: 260,
    wraps: true,
    onCard: "plain",
    cell: (incident) => <WhatFailed incident={incident} />,
    hint: (incident) =>
      [describeFailures(incident), incident.last_failure?.message, incident.models.join(", ")]
        .filter(Boolean)
        .join("\n"),
  },
  {
    id: "saved",
    title: titles.saved,
    width: 68,
    isNumber: true,
    cell: ({ saved_requests }) => formatCount(saved_requests),
    hint: () => words.savedHint,
  },
  {
    id: "failed",
    title: titles.failed,
    width: 68,
    isNumber: true,
    cell: ({ failed_requests }) => (
      <span class={failed_requests > 0 ? "bad" : undefined}>{formatCount(failed_requests)}</span>
    ),
    hint: () => words.failedHint,
  },
];

function listColumns(nameOf: (provider: string) => string): readonly Column<Incident>[] {
  const ofProvider: Column<Incident> = {
    id: "provider",
    title: titles.provider,
    width: 132,
    wraps: true,
    onCard: "title",
    cell: ({ provider }) => (
      <a href={`/console/health?provider=${encodeURIComponent(provider)}`} title={provider}>
        {nameOf(provider)}
      </a>
    ),
  };
  return [ofProvider, ...OWN_COLUMNS];
}

/** The kinds of failures, and below them the model and the words of the last one, with a link to its request. */
function WhatFailed({ incident }: { incident: Incident }) {
  const { last_failure: last } = incident;
  if (last === null) return <span class="faint">–</span>;
  return (
    <div class="two-lines">
      <span class="cut">{describeFailures(incident)}</span>
      <span class="cut quiet">
        <a href={`/console/requests/${last.generation_id}`}>{last.model}</a>
        {last.message === null ? null : ` ${last.message}`}
      </span>
    </div>
  );
}
