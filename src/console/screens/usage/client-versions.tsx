import { call } from "../../api/client.ts";
import type { GenerationLine } from "../../api/schema.ts";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { type ClientVersion, countVersions } from "./count-versions.ts";
import { requestsLink, requestsQuery, type UsageView } from "./usage-view.ts";

const words = text.usage;
const titles = words.versionColumns;

/** Reports count families of clients only. The versions are those of the newest requests: at most this many pages of them. */
const MAX_PAGES = 5;
const PAGE_ROWS = 100;

/** The versions of the clients that sent the newest requests. */
export function ClientVersions({ view }: { view: UsageView }) {
  const query = requestsQuery(view);
  const loaded = useLoad(JSON.stringify(query), (signal) => loadNewest(query, signal));
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.versions}</h2>
        {loaded.data === null ? null : (
          <span class="quiet">{words.versionsAbout(formatCount(loaded.data.length))}</span>
        )}
      </div>
      <LoadedRows loaded={loaded} lines={3} empty={<p class="card-body quiet">{words.empty}</p>}>
        {(lines) => (
          <Table
            hasCards
            label={words.versions}
            columns={listColumns(view)}
            rows={countVersions(lines)}
            keyOf={({ client, version }) => `${client} ${version}`}
          />
        )}
      </LoadedRows>
    </section>
  );
}

async function loadNewest(query: Readonly<Record<string, string>>, signal: AbortSignal) {
  const lines: GenerationLine[] = [];
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const found: { data: GenerationLine[]; next: string | null } = await call("GET /api/admin/generations", {
      query: { ...query, limit: PAGE_ROWS, after },
      signal,
    });
    lines.push(...found.data);
    after = found.next;
    if (after === null) break;
  }
  return lines;
}

function listColumns(view: UsageView): readonly Column<ClientVersion>[] {
  return [
    {
      id: "client",
      title: titles.client,
      minWidth: 160,
      wraps: true,
      onCard: "title",
      cell: ({ client }) => <a href={requestsLink(view, client) ?? undefined}>{client}</a>,
    },
    {
      id: "version",
      title: titles.version,
      width: 220,
      wraps: true,
      onCard: "aside",
      cell: ({ version }) => version ?? <span class="faint">{words.noVersion}</span>,
    },
    {
      id: "requests",
      title: titles.requests,
      width: 120,
      isNumber: true,
      cell: ({ requests }) => formatCount(requests),
    },
    {
      id: "last",
      title: titles.last,
      width: 140,
      cell: ({ last }) => (
        <a href={`/console/requests/${last.id}`}>
          <Time at={last.created_at} />
        </a>
      ),
    },
  ];
}
