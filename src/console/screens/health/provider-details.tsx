import type { ComponentChildren } from "preact";
import type { ProviderHealth } from "../../api/schema.ts";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount, formatDuration, formatShare } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import type { Loaded } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { Drains } from "./drain.tsx";
import { listDrains } from "./health-rows.ts";
import { ProviderHistory, readRange } from "./history-card.tsx";
import type { History } from "./history-rows.ts";
import { ProviderIncidents } from "./incidents.tsx";
import { CircuitText, DrainedBadge, StateBadge } from "./state-badge.tsx";
import { type Trial, TrialLine } from "./trial.tsx";

type Key = ProviderHealth["keys"][number];
type Endpoint = ProviderHealth["endpoints"][number];
type Refusal = ProviderHealth["refused_parameters"][number];
type Failure = ProviderHealth["last_failures"][number];

const { keyColumns, endpointColumns, refusalColumns, failureColumns } = text.health;

/** The keys of a provider, its models, and its last failures, each with a link to its request. */
export function ProviderDetails(props: {
  row: ProviderHealth;
  history: Loaded<History>;
  trial: Trial | null;
  onUndrained: () => void;
}) {
  const { row, history, trial, onUndrained } = props;
  const { provider, name, keys, endpoints, refused_parameters, last_failures } = row;
  return (
    <div class="stack unfolded-body">
      {trial === null ? null : <TrialLine name={name} trial={trial} />}
      {listDrains(row).length === 0 ? null : (
        <Part title={text.health.drain.list}>
          <Drains row={row} onDone={onUndrained} />
        </Part>
      )}
      <Part title={text.health.history.own[readRange()]}>
        <ProviderHistory row={row} loaded={history} />
      </Part>
      <Part title={text.health.incidents.title}>
        <ProviderIncidents provider={provider} />
      </Part>
      {keys.length === 0 ? null : (
        <Part title={text.health.keys}>
          <Table label={text.health.keys} columns={KEYS} rows={keys} keyOf={({ id }) => id} />
        </Part>
      )}
      <Part title={text.health.endpoints}>
        {endpoints.length === 0 ? (
          <p class="quiet">{text.health.noEndpoints}</p>
        ) : (
          <Table
            label={text.health.endpoints}
            columns={ENDPOINTS}
            rows={endpoints}
            keyOf={({ model }) => model}
          />
        )}
      </Part>
      {refused_parameters.length === 0 ? null : (
        <Part title={text.health.refusals}>
          <p class="quiet">{text.health.refusalsAbout}</p>
          <Table
            label={text.health.refusals}
            columns={REFUSALS}
            rows={refused_parameters}
            keyOf={({ model, upstream_model, format, parameter, byok_key_id }) =>
              `${model} ${upstream_model} ${format} ${parameter} ${byok_key_id ?? ""}`
            }
          />
        </Part>
      )}
      <Part
        title={text.health.failures}
        link={
          <a href={`/console/requests?provider=${encodeURIComponent(provider)}&outcome=failed`}>
            {text.health.allFailed}
          </a>
        }
      >
        {last_failures.length === 0 ? (
          <p class="quiet">{text.health.noFailures}</p>
        ) : (
          <Table
            label={text.health.failures}
            columns={FAILURES}
            rows={last_failures}
            keyOf={({ at, generation_id, message }) => `${at} ${generation_id} ${message}`}
          />
        )}
      </Part>
    </div>
  );
}

function Part(props: { title: string; link?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section>
      <div class="row unfolded-head">
        <h2>{props.title}</h2>
        <span class="grow" />
        {props.link}
      </div>
      {props.children}
    </section>
  );
}

const KEYS: readonly Column<Key>[] = [
  { id: "key", title: keyColumns.key, width: 160, cell: ({ id }) => <code>{id}</code> },
  {
    id: "state",
    title: keyColumns.state,
    width: 200,
    cell: ({ state }) => <span class={state === "ok" ? "good" : "bad"}>{text.health.keyStates[state]}</span>,
  },
  {
    id: "until",
    title: keyColumns.until,
    width: 120,
    cell: ({ until }) => (until === null ? <span class="faint">–</span> : <Time at={until} />),
  },
  {
    id: "models",
    title: keyColumns.models,
    cell: ({ models }) => {
      const list = models.map(({ model, state }) => `${model} (${text.health.keyStates[state]})`).join(", ");
      return list === "" ? <span class="faint">–</span> : <span title={list}>{list}</span>;
    },
  },
];

const ENDPOINTS: readonly Column<Endpoint>[] = [
  {
    id: "model",
    title: endpointColumns.model,
    cell: ({ model, upstream_model }) => (
      <a href={`/console/models/${model}`} title={upstream_model ?? model}>
        {model}
      </a>
    ),
  },
  {
    id: "state",
    title: endpointColumns.state,
    width: 300,
    cell: ({ state, overloaded_until, drain }) => (
      <>
        {drain === null ? <StateBadge state={state} /> : <DrainedBadge drain={drain} />}{" "}
        {overloaded_until === null ? null : (
          <span class="quiet">
            {text.health.overloadedUntil} <Time at={overloaded_until} />
          </span>
        )}
      </>
    ),
  },
  {
    id: "requests",
    title: endpointColumns.requests,
    width: 90,
    isNumber: true,
    cell: ({ requests }) => formatCount(requests),
  },
  {
    id: "uptime",
    title: endpointColumns.uptime,
    width: 100,
    isNumber: true,
    cell: ({ uptime }) =>
      uptime === null ? "–" : <span class={uptime < 1 ? "bad" : undefined}>{formatShare(uptime)}</span>,
  },
  {
    id: "latency",
    title: endpointColumns.latency,
    width: 100,
    isNumber: true,
    cell: ({ latency_ms }) => formatDuration(latency_ms?.p50 ?? null),
  },
  {
    id: "speed",
    title: endpointColumns.speed,
    width: 90,
    isNumber: true,
    cell: ({ throughput }) => (throughput === null ? "–" : formatCount(Math.round(throughput.p50))),
  },
  {
    id: "circuit",
    title: endpointColumns.circuit,
    width: 100,
    cell: ({ circuit }) => <CircuitText circuit={circuit} />,
  },
];

const REFUSALS: readonly Column<Refusal>[] = [
  {
    id: "parameter",
    title: refusalColumns.parameter,
    width: 200,
    cell: ({ parameter }) => <code>{parameter}</code>,
  },
  {
    id: "model",
    title: refusalColumns.model,
    cell: ({ model, upstream_model, byok_key_id }) => (
      <span title={upstream_model}>
        {model}
        {byok_key_id === null ? null : <span class="faint"> · {text.health.byok}</span>}
      </span>
    ),
  },
  { id: "format", title: refusalColumns.format, width: 160, cell: ({ format }) => format },
  {
    id: "applied",
    title: refusalColumns.applied,
    width: 240,
    cell: ({ is_applied }) =>
      is_applied ? text.health.leftOut : <span class="quiet">{text.health.seenOnce}</span>,
  },
  { id: "until", title: refusalColumns.until, width: 120, cell: ({ until }) => <Time at={until} /> },
];

const FAILURES: readonly Column<Failure>[] = [
  {
    id: "at",
    title: failureColumns.at,
    width: 110,
    cell: ({ at, generation_id }) => (
      <a href={`/console/requests/${generation_id}`}>
        <Time at={at} />
      </a>
    ),
  },
  {
    id: "model",
    title: failureColumns.model,
    width: 220,
    cell: ({ model, upstream_model, is_byok }) => (
      <span title={upstream_model}>
        {model}
        {is_byok ? <span class="faint"> · {text.health.byok}</span> : null}
      </span>
    ),
  },
  {
    id: "status",
    title: failureColumns.status,
    width: 190,
    cell: ({ status, error_type }) => `${status ?? "–"} ${error_type}`,
  },
  {
    id: "message",
    title: failureColumns.message,
    cell: ({ message }) => <span title={message}>{message}</span>,
  },
];
