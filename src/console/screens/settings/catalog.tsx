import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { CatalogStatus } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Figure } from "../../parts/layout/section.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { CatalogChanges } from "./catalog-changes.tsx";

/** The state of the catalog, a refresh, and the price changes to approve. */
export function Catalog() {
  const { data, error, reload } = useLoad("catalog", async (signal) => {
    const [status, changes] = await Promise.all([
      call("GET /api/admin/catalog", { signal }),
      call("GET /api/admin/catalog/changes", { signal }),
    ]);
    return { status: status.data, changes: changes.data };
  });
  const [isBusy, setBusy] = useState(false);
  const refresh = () => {
    setBusy(true);
    call("POST /api/admin/catalog/refresh", { body: {} })
      .then(({ data: { changed, added } }) => {
        showToast(text.settings.refreshed(formatCount(changed), formatCount(added)));
      }, showFailure)
      .finally(() => {
        setBusy(false);
        reload();
      });
  };
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.settings.catalog}</h2>
        <span class="grow" />
        <Button icon="refresh" isBusy={isBusy} onClick={refresh}>
          {text.settings.refresh}
        </Button>
      </div>
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      <div class="card-body stack">
        {data !== null ? <Status status={data.status} /> : error === null ? <Skeleton lines={3} /> : null}
      </div>
      {data === null ? null : <CatalogChanges changes={data.changes} onDecided={reload} />}
    </section>
  );
}

function Status({ status }: { status: CatalogStatus }) {
  const { figures } = text.settings;
  const { source, problem, refreshed_at, missing } = status;
  return (
    <>
      <dl class="figures">
        <Figure name={figures.models}>{formatCount(status.models)}</Figure>
        <Figure name={figures.refreshed}>
          {refreshed_at === null ? text.settings.never : <Time at={refreshed_at} />}
        </Figure>
        <Figure name={figures.waiting}>{formatCount(status.waiting)}</Figure>
        <Figure name={figures.missing}>
          <span title={missing.map(({ model }) => model).join(", ")}>{formatCount(missing.length)}</span>
        </Figure>
      </dl>
      {problem === null ? null : (
        <div class="check-line bad" role="status">
          <Icon name="alert" />
          <span class="breaks">
            {text.settings.problem} {problem}
          </span>
        </div>
      )}
      <p class="quiet breaks">
        {text.settings.source}: {source} · {text.settings.every(status.refresh_hours)} ·{" "}
        {text.settings.factor(status.price_factor)}
      </p>
    </>
  );
}
