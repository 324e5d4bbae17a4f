import { call } from "../../api/client.ts";
import type { Gateway } from "../../api/schema.ts";
import { LoadedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Id, Money, Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";

const { gatewayColumns: titles } = text.settings;
/** Gateways whose files set the same show the same beginning. */
const DIGEST_CHARS = 8;

/** The gateways that share the database. */
export function Gateways() {
  const loaded = useLoad("gateways", async (signal) => {
    return (await call("GET /api/admin/gateways", { signal })).data;
  });
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.settings.gateways}</h2>
      </div>
      <LoadedRows loaded={loaded} lines={2} empty={<p class="card-body quiet">{text.settings.noGateways}</p>}>
        {(rows) => (
          <Table label={text.settings.gateways} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
        )}
      </LoadedRows>
    </section>
  );
}

const COLUMNS: readonly Column<Gateway>[] = [
  { id: "id", title: titles.id, width: 200, cell: ({ id }) => <Id id={id} /> },
  {
    id: "state",
    title: titles.state,
    width: 90,
    cell: ({ state }) => (
      <Badge tone={state === "live" ? "good" : "bad"}>{text.settings.gatewayStates[state]}</Badge>
    ),
  },
  {
    id: "host",
    title: titles.host,
    cell: ({ host, data_dir }) => <span title={`${host} ${data_dir}`}>{host}</span>,
  },
  { id: "version", title: titles.version, width: 90, cell: ({ version }) => version },
  {
    id: "revision",
    title: titles.revision,
    width: 260,
    wraps: true,
    cell: ({ config }) =>
      config === null ? (
        <span class="bad">{text.settings.noConfig}</span>
      ) : (
        <>
          {config.revision}
          {config.problem === null ? null : <p class="bad">{config.problem}</p>}
        </>
      ),
  },
  {
    id: "file",
    title: titles.file,
    width: 110,
    cell: ({ config }) =>
      config === null ? (
        "–"
      ) : (
        <code title={config.file_digest}>{config.file_digest.slice(0, DIGEST_CHARS)}</code>
      ),
  },
  {
    id: "leased",
    title: titles.leased,
    isNumber: true,
    width: 120,
    cell: ({ leased }) => <Money nanodollars={leased * 1e9} />,
  },
  { id: "started", title: titles.started, width: 110, cell: ({ started_at }) => <Time at={started_at} /> },
  { id: "seen", title: titles.seen, width: 110, cell: ({ seen_at }) => <Time at={seen_at} /> },
];
