import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Loaded, useLoad } from "../../state/load.ts";
import { ErrorBox, RowsSkeleton } from "../layout/states.tsx";
import { Pager } from "./pager.tsx";

const PAGE_ROWS = 100;

/** A page of a list, as the API returns it. */
interface ListPage<Row> {
  readonly data: readonly Row[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
}

/** A list that is shown page by page. */
interface Pages<Row> extends Loaded<ListPage<Row>> {
  /** The cursors of the pages up to the current one. */
  readonly after: readonly string[];
  turn(after: readonly string[]): void;
}

/** Loads a list page by page. `name` differs for each list. */
export function usePages<Row>(
  name: string,
  load: (
    query: { readonly limit: number; readonly after: string | null },
    signal: AbortSignal,
  ) => Promise<ListPage<Row>>,
): Pages<Row> {
  const [after, turn] = useState<readonly string[]>([]);
  const cursor = after.at(-1) ?? null;
  const loaded = useLoad(`${name} ${cursor}`, (signal) => load({ limit: PAGE_ROWS, after: cursor }, signal));
  return { ...loaded, after, turn };
}

/** A page of a list as `children` shows it, and the way to the others. */
export function PagedList<Row>(props: {
  readonly pages: Pages<Row>;
  readonly newer: string;
  readonly older: string;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}) {
  const { pages, newer, older, children } = props;
  const { data, error, reload, after, turn } = pages;
  return (
    <>
      {error !== null ? (
        <div class="page-body">
          <ErrorBox error={error} onRetry={reload} />
        </div>
      ) : data === null ? (
        <RowsSkeleton />
      ) : (
        children(data.data)
      )}
      <Pager after={after} next={data?.next ?? null} newer={newer} older={older} onChange={turn} />
    </>
  );
}
