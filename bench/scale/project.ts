import type { UnitCosts } from "./counters.ts";

/** The costs of a request at one rate. */
export interface Measured {
  /** Requests a second, as they were answered. */
  readonly rate: number;
  readonly costs: UnitCosts;
}

/** A resource of which a cluster with one PostgreSQL and one Redis has a fixed amount. */
interface Resource {
  readonly label: string;
  readonly unit: string;
  readonly cost: keyof UnitCosts;
  /** Converts the cost of a second's requests into the unit. */
  readonly perUnit: number;
  /** What one server has of it. */
  readonly capacity: number;
}

/** Large single servers that can be rented. docs/scale.md states where each figure is from. */
const RESOURCES: readonly Resource[] = [
  { label: "PostgreSQL: processor", unit: "cores", cost: "postgresCpu", perUnit: 1e6, capacity: 32 },
  { label: "PostgreSQL: WAL", unit: "MB/s", cost: "walBytes", perUnit: 1e6, capacity: 500 },
  { label: "PostgreSQL: commits", unit: "1/s", cost: "postgresCommits", perUnit: 1, capacity: 20_000 },
  { label: "PostgreSQL: network", unit: "MB/s", cost: "postgresBytes", perUnit: 1e6, capacity: 1_250 },
  { label: "Redis: processor", unit: "cores", cost: "redisCpu", perUnit: 1e6, capacity: 1 },
  { label: "Redis: network", unit: "MB/s", cost: "redisBytes", perUnit: 1e6, capacity: 1_250 },
];

const LOADS = [1_000, 10_000, 100_000, 1_000_000] as const;
/** The share of a core that a gateway's process uses at its planned load: the rest is for peaks and failures of others. */
const PLANNED_SHARE = 0.5;

/**
 * Returns a table of what a load needs of each resource, and of its share of one server. The unit costs are those of the measurement
 * whose load per gateway is nearest to the planned one: groups, and with them commits, depend on it.
 */
export function project(all: readonly Measured[]): string {
  const { rate, costs } = choosePlanned(all);
  const gateways = (load: number) => Math.ceil((load * costs.gatewayCpu) / 1e6 / PLANNED_SHARE);
  const lines = [
    "",
    `needs at a load of (unit costs at ${rate.toFixed(0)} requests a second and gateway)`,
    row(
      "requests a second",
      LOADS.map((load) => load.toLocaleString("en-US")),
    ),
    row(
      "gateway processes",
      LOADS.map((load) => gateways(load).toLocaleString("en-US")),
    ),
    row(
      "a gateway's journal, MB/s",
      LOADS.map((load) => ((load * costs.journalBytes) / 1e6 / gateways(load)).toFixed(1)),
    ),
    ...RESOURCES.map((resource) =>
      row(
        `${resource.label}, ${resource.unit}`,
        LOADS.map((load) => cell(resource, load * costs[resource.cost])),
      ),
    ),
  ];
  return lines.join("\n");
}

function choosePlanned(all: readonly Measured[]): Measured {
  const distance = ({ rate, costs }: Measured): number =>
    Math.abs((rate * costs.gatewayCpu) / 1e6 - PLANNED_SHARE);
  return [...all].sort((a, b) => distance(a) - distance(b))[0] as Measured;
}

function cell({ perUnit, capacity }: Resource, cost: number): string {
  const needed = cost / perUnit;
  return `${needed.toFixed(needed < 10 ? 2 : 0)} (${((needed / capacity) * 100).toFixed(0)} %)`;
}

function row(label: string, cells: readonly string[]): string {
  return label.padEnd(34) + cells.map((text) => text.padStart(18)).join("");
}
