import { call } from "../../api/client.ts";
import type { KeptResponse } from "../../api/schema.ts";
import { ShareBar } from "../../parts/charts/share-bar.tsx";
import { FilterBar } from "../../parts/filters/filter-bar.tsx";
import { Empty, ErrorBox } from "../../parts/layout/states.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { timeColumn } from "../../parts/lists/time-column.tsx";
import { formatBytes, formatCount, formatShare } from "../../parts/values/format.ts";
import { Named, Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { navigate, query, setQuery } from "../../state/location.ts";
import { usePages } from "../../state/pages.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { listResponseFields, toResponseQuery } from "./response-filters.ts";
import { StatusBadge } from "./status-badge.tsx";

const words = text.responses;
const ROWS = 50;

/** The path of the page of a response, of items, or of a conversation. */
export function pathOfResponse(id: string): string {
  return `/console/responses/${id}`;
}

/** The kept responses of an account, found by what the address says, and how much of its limit they use. */
export function ResponseList({ account }: { account: string | null }) {
  const filter = toResponseQuery(account);
  const { account_id: _, ...others } = filter;
  const pages = usePages<KeptResponse>(JSON.stringify(filter), (after, signal) =>
    call("GET /api/admin/responses", {
      query: { ...filter, limit: ROWS, ...(after === null ? {} : { after }) },
      signal,
    }),
  );
  const isFiltered = Object.values(others).some((value) => value !== undefined);
  return (
    <>
      {can("read") && filter.account_id !== undefined ? <Usage account={filter.account_id} /> : null}
      <search class="list-filters">
        <FilterBar fields={listResponseFields(account)} values={query.value} onChange={setQuery} />
      </search>
      <PagedRows
        pages={pages}
        empty={
          <Empty title={isFiltered ? words.noMatch : words.none}>
            <p>{isFiltered ? words.noMatchAbout : words.noneAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            hasCards
            label={words.title}
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            onOpen={({ id }) => navigate(pathOfResponse(id))}
          />
        )}
      </PagedRows>
    </>
  );
}

/** How many bytes an account keeps of what it may, and for how long. */
function Usage({ account }: { account: string }) {
  const { data, error, reload } = useLoad(account, async (signal) => {
    return (await call("GET /api/admin/responses/usage", { query: { account_id: account }, signal })).data;
  });
  if (error !== null) return <ErrorBox error={error} onRetry={reload} />;
  const { bytes = 0, limit_bytes: limit = 0, retention_days = 0 } = data ?? {};
  const share = limit === 0 ? 0 : bytes / limit;
  return (
    <div class="kept-usage" aria-busy={data === null}>
      <span class={share >= 1 ? "kept-share bad" : "kept-share"}>
        {data === null ? "–" : words.usage(formatBytes(bytes), formatBytes(limit), formatShare(share))}
        <ShareBar share={share} isReached={share >= 1} />
      </span>
      <span class="quiet">{data === null ? "" : words.retention(formatCount(retention_days))}</span>
    </div>
  );
}

const names = words.columns;

const COLUMNS: readonly Column<KeptResponse>[] = [
  timeColumn(names.time, pathOfResponse),
  {
    id: "status",
    title: names.status,
    width: 124,
    onCard: "aside",
    cell: ({ kind, status }) => (kind === "items" ? null : <StatusBadge status={status} />),
  },
  {
    id: "model",
    title: names.model,
    minWidth: 200,
    wraps: true,
    onCard: "title",
    cell: ({ model, background }) => (
      <>
        {model ?? <span class="quiet">{words.items}</span>}
        {background ? <span class="faint key-hint">{words.backgrounds.true}</span> : null}
      </>
    ),
  },
  {
    id: "turn",
    title: names.turn,
    width: 56,
    isNumber: true,
    cell: ({ sequence }) => formatCount(sequence + 1),
  },
  {
    id: "user",
    title: names.user,
    width: 130,
    wraps: true,
    cell: ({ user_id, user_name }) => <Named id={user_id} name={user_name} none={words.serviceKey} />,
  },
  {
    id: "key",
    title: names.key,
    width: 140,
    wraps: true,
    cell: ({ key_id, key_name }) => <Named id={key_id} name={key_name} />,
  },
  {
    id: "size",
    title: names.size,
    width: 76,
    isNumber: true,
    cell: ({ bytes }) => formatBytes(bytes),
  },
  { id: "expires", title: names.expires, width: 84, cell: ({ expires_at }) => <Time at={expires_at} /> },
];
