import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount, formatDuration, formatShare } from "../../parts/values/format.ts";
import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { text } from "../../text/text.ts";
import { printTokens } from "./model-format.ts";
import { Price, StatusBadge } from "./model-values.tsx";

const words = text.models;
const titles = words.endpointColumns;
type Endpoint = ModelDetails["endpoints"][number];

/** The endpoints of a model with their measured health, those that can be called first. */
export function EndpointsTable({ endpoints, isFree }: { endpoints: readonly Endpoint[]; isFree: boolean }) {
  return (
    <Table
      kind="card"
      label={words.endpoints}
      columns={[
        ...MEASURED,
        priceColumn("input", titles.input, { isFree, read: (row) => row?.pricing.prompt }),
        priceColumn("output", titles.output, { isFree, read: (row) => row?.pricing.completion }),
        REQUESTS,
      ]}
      rows={endpoints}
      keyOf={({ provider, upstream_model }) => `${provider} ${upstream_model}`}
      hasCards
    />
  );
}

const MEASURED: readonly Column<Endpoint>[] = [
  {
    id: "provider",
    title: titles.provider,
    minWidth: 180,
    wraps: true,
    onCard: "title",
    cell: ({ provider_name, upstream_model }) => (
      <>
        {provider_name} <span class="faint mono">{upstream_model}</span>
      </>
    ),
  },
  {
    id: "status",
    title: titles.status,
    width: 96,
    onCard: "aside",
    cell: ({ is_configured, status }) => <StatusBadge state={is_configured ? status : "no_key"} />,
  },
  numberColumn("uptime", titles.uptime, ({ uptime }) => (uptime === null ? "–" : formatShare(uptime))),
  numberColumn("latency", titles.latency, ({ latency_ms }) => formatDuration(latency_ms?.p50 ?? null)),
  numberColumn("latency99", titles.latency99, ({ latency_ms }) => formatDuration(latency_ms?.p99 ?? null)),
  numberColumn("throughput", titles.throughput, ({ throughput }) => throughput?.p50.toFixed(1) ?? "–"),
  numberColumn("context", titles.context, ({ context_length }) => printTokens(context_length)),
];

const REQUESTS = numberColumn("requests", titles.requests, ({ requests }) => formatCount(requests));

function numberColumn(id: string, title: string, cell: Column<Endpoint>["cell"]): Column<Endpoint> {
  return { id, title, isNumber: true, width: id === "output" ? 96 : 84, cell };
}

type PriceRow = Endpoint["prices"][number];

/** The present price of short prompts. */
function priceColumn(
  id: string,
  title: string,
  {
    isFree,
    read,
  }: { readonly isFree: boolean; readonly read: (row: PriceRow | undefined) => string | undefined },
): Column<Endpoint> {
  return numberColumn(id, title, ({ prices }) => (
    <Price
      value={read(prices.find(({ is_current, min_prompt_tokens }) => is_current && min_prompt_tokens === 0))}
      isFree={isFree}
    />
  ));
}
