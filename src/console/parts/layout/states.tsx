import type { ComponentChildren } from "preact";
import type { ApiError } from "../../api/client.ts";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { Icon } from "../values/icon.tsx";

/** The text of an empty list: a title, an explanation, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** An error in the API's own words, with the id of the request and a button to try again. */
export function ErrorBox({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <Icon name="alert" />
      <div class="grow">
        <p>{error.message}</p>
        {error.requestId === null ? null : (
          <p class="quiet">
            {text.states.requestId} <code>{error.requestId}</code>
          </p>
        )}
      </div>
      {onRetry === undefined ? null : (
        <Button size="small" onClick={onRetry}>
          {text.states.retry}
        </Button>
      )}
    </div>
  );
}

/** Grey lines in place of content that is being loaded. */
export function Skeleton({ lines = 6, height = 16 }: { lines?: number; height?: number }) {
  return (
    <div class="column" aria-busy="true" aria-label={text.states.loading} role="status">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="skeleton" style={{ height: `${height}px`, width: `${92 - ((i * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

/** Grey cells in place of the rows of a table, as high as its rows. */
export function RowsSkeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div class="rows-skeleton" aria-busy="true" aria-label={text.states.loading} role="status">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} class="row-skeleton">
          <div class="skeleton" />
          <div class="skeleton" />
          <div class="skeleton" />
          <div class="skeleton" />
        </div>
      ))}
    </div>
  );
}

/** A grey bar in place of a name that is being loaded. */
export function NameSkeleton() {
  return (
    <span class="skeleton name-skeleton" role="status" aria-busy="true" aria-label={text.states.loading} />
  );
}
