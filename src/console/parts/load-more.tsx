import type { Pages } from "../state/pages.ts";
import { listText } from "../text/lists.ts";
import { Button } from "./button.tsx";
import { ErrorBox } from "./states.tsx";

/** The end of a list that is loaded page by page: its error, or a button for the next page. */
export function LoadMore<Row>({ pages }: { pages: Pages<Row> }) {
  if (pages.error !== null)
    return <ErrorBox error={pages.error} onRetry={pages.rows === null ? pages.reload : pages.more} />;
  if (!pages.hasMore) return null;
  return (
    <div class="load-more">
      <Button isBusy={pages.isLoading} onClick={pages.more}>
        {listText.more}
      </Button>
    </div>
  );
}
