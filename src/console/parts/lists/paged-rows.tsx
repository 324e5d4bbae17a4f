import type { ComponentChildren } from "preact";
import type { Loaded } from "../../state/load.ts";
import type { Pages } from "../../state/pages.ts";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { ErrorBox, RowsSkeleton } from "../layout/states.tsx";

interface RowsProps<Row> {
  /** Shown instead of rows if there are none. */
  readonly empty: ComponentChildren;
  /** How many lines stand in for the rows while they are loaded. */
  readonly lines?: number;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

/** The rows of a list that is loaded page by page, or what stands in for them, and a button for the next page. */
export function PagedRows<Row>(props: RowsProps<Row> & { pages: Pages<Row> }) {
  const { rows, error, hasMore, isLoading, more, reload } = props.pages;
  return (
    <>
      {rows !== null ? (
        <Rows {...props} rows={rows} />
      ) : error === null ? (
        <RowsSkeleton rows={props.lines} />
      ) : null}
      {error !== null ? (
        <ErrorBox error={error} onRetry={rows === null ? reload : more} />
      ) : hasMore ? (
        <div class="load-more">
          <Button isBusy={isLoading} onClick={more}>
            {text.lists.more}
          </Button>
        </div>
      ) : null}
    </>
  );
}

/** The rows of a list that is loaded as a whole, or a placeholder for them. */
export function LoadedRows<Row>(props: RowsProps<Row> & { loaded: Loaded<readonly Row[]> }) {
  const { data, error, reload } = props.loaded;
  return (
    <>
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data !== null ? (
        <Rows {...props} rows={data} />
      ) : error === null ? (
        <RowsSkeleton rows={props.lines} />
      ) : null}
    </>
  );
}

function Rows<Row>({ rows, empty, children }: RowsProps<Row> & { rows: readonly Row[] }) {
  return <>{rows.length === 0 ? empty : children(rows)}</>;
}
