import type { PartName } from "./plan.ts";

/** A figure as tables and charts show it. */
export interface Column {
  readonly figure: string;
  readonly label: string;
  readonly decimals: number;
  /** The variant whose figure of the same round is subtracted. */
  readonly base?: string;
  /** Factor for display, such as 100 for a share in percent. */
  readonly factor?: number;
  /** When the figure says less about the variant than about the load generator. */
  readonly limit?: Limit;
}

/** The share of its core that the variant used, and the sign before a figure for which it was too low to be the variant's own limit. */
interface Limit {
  readonly busy: string;
  readonly sign: "≥" | "≤";
}

interface Table {
  readonly title: string;
  readonly part: PartName;
  readonly columns: readonly Column[];
}

const SHAPES = [
  ["small.16", "small"],
  ["small.1", "small, 1 connection"],
  ["small.64", "small, 64"],
  ["24kB.16", "24 kB"],
  ["200kB.16", "200 kB"],
  ["stream.16", "stream of 100"],
] as const;

/** All tables, in the order of the document; those of one part follow each other. */
export const TABLES: readonly Table[] = [
  {
    title: "Processor time of a request, µs",
    part: "loops",
    columns: SHAPES.map(([cell, label]) => ({ figure: `${cell}.cpu`, label, decimals: 0 })),
  },
  {
    title: "Requests a second on one core",
    part: "loops",
    columns: SHAPES.map(([cell, label]) => ({
      figure: `${cell}.rps`,
      label,
      decimals: 0,
      // With one connection it is the time of an answer that limits, not the load generator.
      ...(cell === "small.1" ? {} : { limit: { busy: `${cell}.busy`, sign: "≥" } as const }),
    })),
  },
  {
    title: "Share of its core that the variant used meanwhile, %",
    part: "loops",
    columns: SHAPES.map(([cell, label]) => ({ figure: `${cell}.busy`, label, decimals: 0, factor: 100 })),
  },
  {
    title:
      "Processor time of a chat request that is translated for Anthropic, and of the same without translation, µs",
    part: "translation",
    columns: [
      { figure: "anthropic.small.16.cpu", label: "small", decimals: 0 },
      { figure: "anthropic.small.16.same.cpu", label: "small, same format", decimals: 0 },
      { figure: "anthropic.200kB.16.cpu", label: "200 kB", decimals: 0 },
      { figure: "anthropic.200kB.16.same.cpu", label: "200 kB, same format", decimals: 0 },
    ],
  },
  {
    title: "Time of a small answer at 200 requests a second, µs",
    part: "latency",
    columns: [
      { figure: "latency.p50", label: "p50", decimals: 0 },
      { figure: "latency.p99", label: "p99", decimals: 0 },
      { figure: "latency.p50", label: "added, p50", decimals: 0, base: "direct" },
      { figure: "latency.p99", label: "added, p99", decimals: 0, base: "direct" },
    ],
  },
  {
    title: "Streams of 64 events, 20 ms apart, opened at once (2,000 in a full run)",
    part: "streams",
    columns: [
      {
        figure: "streams.seconds",
        label: "until all have ended, s",
        decimals: 2,
        limit: { busy: "streams.busy", sign: "≤" },
      },
      { figure: "streams.busy", label: "share of its core, %", decimals: 0, factor: 100 },
      { figure: "streams.cpu", label: "processor time of an event, µs", decimals: 1 },
    ],
  },
  {
    title: "Streams of agents, open at once: bodies of 24 kB, an event every 4 s (10,000 in a full run)",
    part: "agents",
    columns: [
      { figure: "agents.streams", label: "open at once", decimals: 0 },
      { figure: "agents.idle", label: "resident before, MB", decimals: 0 },
      { figure: "agents.open", label: "while open, MB", decimals: 0 },
      { figure: "agents.each", label: "for each stream, kB", decimals: 1 },
      { figure: "agents.peak", label: "peak, MB", decimals: 0 },
    ],
  },
  {
    title: "Bodies of 150 kB, open at once for 3 s (1,500 in a full run)",
    part: "burst",
    columns: [
      { figure: "burst.idle", label: "resident before, MB", decimals: 0 },
      { figure: "burst.peak", label: "peak, MB", decimals: 0 },
      { figure: "burst.after", label: "30 s after, MB", decimals: 0 },
      { figure: "burst.answered", label: "answered", decimals: 0 },
      { figure: "burst.seconds", label: "until the last answer, s", decimals: 1 },
    ],
  },
  {
    title: "From the start of the process to the first answer, ms",
    part: "start",
    columns: [{ figure: "start.ms", label: "ms", decimals: 0 }],
  },
  {
    title: "Heap allocated by a request, kB",
    part: "heap",
    columns: [
      { figure: "heap.small", label: "small", decimals: 1 },
      { figure: "heap.stream", label: "stream of 100", decimals: 1 },
    ],
  },
  {
    title: "Features of this gateway, each alone: processor time of a small request, µs",
    part: "features",
    columns: [
      { figure: "features.cpu", label: "in total", decimals: 0 },
      { figure: "features.cpu", label: "added", decimals: 0, base: "none" },
    ],
  },
];
