import { z } from "zod";

const MAX_ROWS = 100;
const DEFAULT_ROWS = 20;

/** The query of every list. */
export const PAGE_QUERY = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_ROWS)
    .default(DEFAULT_ROWS)
    .describe("Maximum number of entries in the page."),
  after: z.string().min(1).max(200).optional().describe("The `next` of the previous page."),
};

/** A validated query of a list. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string | undefined;
}

/** Returns the schema of a page. */
export function pageView<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next: z.string().nullable().describe("Send it as `after` to get the next page. `null` on the last page."),
  });
}

/** The source of a page's rows. */
interface PageSource<Row> {
  readonly limit: number;
  /** Loads up to `limit` rows. */
  load(limit: number): Promise<readonly Row[]>;
  /** Returns the API's view of the rows of the page. */
  present(rows: readonly Row[]): Promise<readonly unknown[]> | readonly unknown[];
  /** Returns the cursor of the page after a row. */
  cursorOf(row: Row): string;
}

/** Returns a page of a list. Loads one more row than the page has, to find out whether there is a next page. */
export async function makePage<Row>({ limit, load, present, cursorOf }: PageSource<Row>) {
  const rows = await load(limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { data: await present(shown), next: last === undefined ? null : cursorOf(last) };
}
