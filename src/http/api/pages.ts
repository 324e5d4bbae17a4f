import { z } from "zod";

const MAX_ROWS = 100;
const DEFAULT_ROWS = 20;

/** The query of every list: how much, and behind what. */
export const PAGE_QUERY = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_ROWS)
    .default(DEFAULT_ROWS)
    .describe("How many of them at most"),
  after: z.string().min(1).max(200).optional().describe("`next` of the page before"),
};

/** The same, checked. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string | undefined;
}

/** The answer of a list. */
export function pageView<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next: z.string().nullable().describe("Send it as `after` for the page behind; null: this is the last"),
  });
}

/** What a page is made of. */
interface PageSource<Row> {
  readonly limit: number;
  /** Gives the rows of the page, and one more where there is one. */
  load(limit: number): Promise<readonly Row[]>;
  describe(row: Row): unknown;
  /** What the page behind this row is asked for by. */
  cursorOf(row: Row): string;
}

/** A page of a list. `next` is null on the last. */
export async function makePage<Row>({ limit, load, describe, cursorOf }: PageSource<Row>) {
  const rows = await load(limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { data: shown.map(describe), next: last === undefined ? null : cursorOf(last) };
}
