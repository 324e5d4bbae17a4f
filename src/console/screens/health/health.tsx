import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ProviderHealth } from "../../api/schema.ts";
import { Check } from "../../parts/controls/field.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { Id } from "../../parts/values/values.tsx";
import { toApiError, useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { useRefresh } from "../../state/refresh.ts";
import { text } from "../../text/text.ts";
import { ClearHealth } from "./clear-health.tsx";
import { DrainProvider } from "./drain.tsx";
import { countStates, isUsed, listProviders } from "./health-rows.ts";
import { HistoryCard, useHistory } from "./history-card.tsx";
import { Incidents } from "./incidents.tsx";
import { ProviderTable } from "./provider-table.tsx";
import { StateBadge } from "./state-badge.tsx";
import type { Trial } from "./trial.tsx";

/** How often the list is loaded again while it is visible. Milliseconds. */
const REFRESH_MS = 4_000;

/** The recent health of all providers, with a test of each. */
export default function Health() {
  const loaded = useLoad("health", (signal) => call("GET /api/admin/health", { signal }));
  useRefresh(loaded, REFRESH_MS);
  const [trials, setTrials] = useState<Readonly<Record<string, Trial>>>({});
  const [clearing, setClearing] = useState<ProviderHealth | null>(null);
  const [draining, setDraining] = useState<ProviderHealth | null>(null);
  const { data, error, reload } = loaded;
  const test = (row: ProviderHealth) => {
    const { provider } = row;
    const set = (trial: Trial) => setTrials((before) => ({ ...before, [provider]: trial }));
    set({ kind: "running" });
    setQuery({ provider });
    call("POST /api/admin/health/{provider}/test", { params: { provider } }).then(
      ({ data }) => {
        set({ kind: "done", result: data });
        reload();
      },
      (failure: unknown) => set({ kind: "error", error: toApiError(failure) }),
    );
  };
  return (
    <Page title={text.health.title} actions={data === null ? null : <Controls rows={data.data} />}>
      <div class="stack">
        {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
        {data === null ? (
          error === null ? (
            <Skeleton lines={8} />
          ) : null
        ) : (
          <Providers
            rows={data.data}
            gateway={data.gateway_id}
            trials={trials}
            onTest={test}
            onClear={setClearing}
            onDrain={setDraining}
            onUndrained={reload}
          />
        )}
      </div>
      {draining === null ? null : (
        <DrainProvider
          row={draining}
          onClose={() => setDraining(null)}
          onDone={() => {
            setQuery({ provider: draining.provider });
            setDraining(null);
            reload();
          }}
        />
      )}
      {clearing === null ? null : (
        <ClearHealth
          row={clearing}
          onClose={() => setClearing(null)}
          onCleared={() => {
            setClearing(null);
            showToast(text.health.cleared(clearing.name));
            reload();
          }}
        />
      )}
    </Page>
  );
}

function Controls({ rows }: { rows: readonly ProviderHealth[] }) {
  const unused = rows.filter((row) => !isUsed(row)).length;
  return unused === 0 ? null : (
    <Check
      label={text.health.showAll(unused)}
      isChecked={query.value["all"] === "1"}
      onChange={(isChecked) => setQuery({ all: isChecked ? "1" : null })}
    />
  );
}

function Providers(props: {
  rows: readonly ProviderHealth[];
  gateway: string;
  trials: Readonly<Record<string, Trial>>;
  onTest: (row: ProviderHealth) => void;
  onClear: (row: ProviderHealth) => void;
  onDrain: (row: ProviderHealth) => void;
  onUndrained: () => void;
}) {
  const open = query.value["provider"] ?? null;
  const isAll = query.value["all"] === "1";
  const history = useHistory();
  const shown = listProviders(props.rows, isAll || props.rows.some((row) => isHidden(row, open)));
  if (shown.length === 0)
    return (
      <Empty title={text.health.noneConfigured}>
        <p>{text.health.noneConfiguredAbout}</p>
      </Empty>
    );
  return (
    <>
      <div class="row wrap">
        {countStates(shown).map(({ state, count }) => (
          <StateBadge key={state} state={state} count={count} />
        ))}
        <span class="grow" />
        <span class="quiet" title={text.health.about}>
          {text.health.gateway}
        </span>
        <Id id={props.gateway} />
      </div>
      <section class="card">
        <ProviderTable
          rows={shown}
          open={open}
          history={history}
          trials={props.trials}
          onToggle={(provider) => setQuery({ provider: provider === open ? null : provider })}
          onTest={props.onTest}
          onClear={props.onClear}
          onDrain={props.onDrain}
          onUndrained={props.onUndrained}
        />
      </section>
      <HistoryCard shown={shown} loaded={history} />
      <Incidents nameOf={(slug) => props.rows.find(({ provider }) => provider === slug)?.name ?? slug} />
    </>
  );
}

/** Whether the address names a provider that the list leaves out. */
function isHidden(row: ProviderHealth, open: string | null): boolean {
  return row.provider === open && !isUsed(row);
}
