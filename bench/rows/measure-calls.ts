/** How long one kind of call takes. Milliseconds. */
export interface CallFigure {
  readonly name: string;
  readonly first: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Processor time of this process and of the server, which other work of the machine does not lengthen. */
  readonly cpu: number;
  /** The median number of generations on a page, or of periods that are counted. */
  readonly rows: number;
}

/**
 * Measures calls that each read something else. `call` gets the number of the call and returns how many rows it found; `readServerUs` reads
 * the processor time of a database server, in microseconds.
 */
export async function measureCalls(
  name: string,
  times: number,
  call: (at: number) => Promise<number>,
  readServerUs: () => Promise<number> = async () => 0,
): Promise<CallFigure> {
  const spent: number[] = [];
  const rows: number[] = [];
  const server = await readServerUs();
  const client = process.cpuUsage();
  for (let at = 0; at < times; at++) {
    const begun = performance.now();
    rows.push(await call(at));
    spent.push(performance.now() - begun);
  }
  const { user, system } = process.cpuUsage(client);
  const cpu = ((await readServerUs()) - server + user + system) / 1_000 / times;
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(spent, share)) as [number, number, number];
  return { name, first: spent[0] ?? Number.NaN, p50, p99, max, cpu, rows: quantile(rows, 0.5) };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

/** Prints figures as a table, rounded to hundredths. */
export function printFigures(figures: readonly object[]): void {
  console.table(
    figures.map((figure) =>
      Object.fromEntries(
        Object.entries(figure).map(([name, value]) => [
          name,
          typeof value === "number" ? Number(value.toFixed(2)) : value,
        ]),
      ),
    ),
  );
}
