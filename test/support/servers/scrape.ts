import type { TestGateway } from "../gateway/gateway.ts";

/** One series of a scrape. */
export interface ScrapedSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of a gateway at one moment. */
export interface Scrape {
  readonly text: string;
  readonly series: readonly ScrapedSeries[];
  /** The names of all declared metrics. */
  readonly names: readonly string[];
  /** Returns the value of the one series with this name and at least these labels; null if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | null;
}

/** Reads the metrics of a gateway with its management key. */
export async function scrape(gateway: Pick<TestGateway, "url" | "adminKey">): Promise<Scrape> {
  const response = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  });
  if (response.status !== 200) throw new Error(`a scrape was answered with status ${response.status}`);
  return parseScrape(await response.text());
}

/** Parses Prometheus' text format. */
export function parseScrape(text: string): Scrape {
  const lines = text.split("\n").filter((line) => line !== "");
  const series = lines.filter((line) => !line.startsWith("#")).map(parseSeries);
  return {
    text,
    series,
    names: lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []),
    value(name, labels = {}) {
      const found = series.filter(
        (one) =>
          one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
      );
      if (found.length > 1) throw new Error(`${found.length} series match ${name} ${JSON.stringify(labels)}`);
      return found[0]?.value ?? null;
    },
  };
}

function parseSeries(line: string): ScrapedSeries {
  const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`not a series: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text as string])),
    value: value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value),
  };
}
