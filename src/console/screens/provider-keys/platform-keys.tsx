import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Setting } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { Time } from "../../parts/values/values.tsx";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { loadProviders } from "./load-providers.ts";
import { listPlatformKeys, type PlatformKey } from "./platform-rows.ts";
import { TestDialog } from "./test-dialog.tsx";

/** The platform keys, the source of each, and the models that its provider opens. */
export function PlatformKeys() {
  const [tested, setTested] = useState<PlatformKey | null>(null);
  const { data, error, reload } = useLoad("platform", loadPlatformKeys);
  if (error !== null) return <ErrorBox error={error} onRetry={reload} />;
  if (data === null) return <Skeleton />;
  return (
    <section class="card">
      <div class="card-head">
        <p class="quiet">{text.providerKeys.platformAbout}</p>
      </div>
      {data.length === 0 ? (
        <Empty title={text.providerKeys.platformNone}>
          <p>{text.providerKeys.platformNoneAbout}</p>
        </Empty>
      ) : (
        <Table
          hasCards
          label={text.providerKeys.list}
          columns={[...COLUMNS, testColumn(setTested)]}
          rows={data}
          keyOf={({ id }) => id}
        />
      )}
      {tested === null ? null : (
        <TestDialog
          name={`${tested.providerName} ${text.providerKeys.key(tested.number)}`}
          run={async () => {
            const params = { provider: tested.provider };
            return (
              await call("POST /api/admin/health/{provider}/test", { params, body: { key: tested.id } })
            ).data;
          }}
          onClose={() => {
            setTested(null);
            reload();
          }}
        />
      )}
    </section>
  );
}

async function loadPlatformKeys(signal: AbortSignal): Promise<readonly PlatformKey[]> {
  const [health, settings, providers] = await Promise.all([
    call("GET /api/admin/health", { signal }),
    call("GET /api/admin/settings", { signal }),
    loadProviders(signal),
  ]);
  return listPlatformKeys(health.data, settings.data, providers);
}

const { platformColumns } = text.providerKeys;

const COLUMNS: readonly Column<PlatformKey>[] = [
  {
    id: "provider",
    title: platformColumns.provider,
    width: 180,
    wraps: true,
    onCard: "title",
    cell: ({ providerName, provider }) => <span title={provider}>{providerName}</span>,
  },
  {
    id: "key",
    title: platformColumns.key,
    width: 90,
    cell: ({ number, id }) => <span title={id}>{text.providerKeys.key(number)}</span>,
  },
  {
    id: "source",
    title: platformColumns.source,
    width: 240,
    cell: ({ setting }) => <Source setting={setting} />,
  },
  {
    id: "state",
    title: platformColumns.state,
    width: 200,
    onCard: "plain",
    cell: (key) => <State {...key} />,
  },
  {
    id: "models",
    title: platformColumns.models,
    isNumber: true,
    width: 90,
    cell: ({ provider, models }) =>
      models === null ? (
        "–"
      ) : (
        <a href={`/console/models?provider=${encodeURIComponent(provider)}`}>{formatCount(models)}</a>
      ),
  },
];

function testColumn(onTest: (key: PlatformKey) => void): Column<PlatformKey> {
  return {
    id: "actions",
    title: "",
    isNumber: true,
    width: 96,
    onCard: "aside",
    cell: (key) => (
      <Button size="small" kind="bare" onClick={() => onTest(key)}>
        {text.providerKeys.test}
      </Button>
    ),
  };
}

function Source({ setting }: { setting: Setting | null }) {
  if (setting?.variable) return <code>{setting.variable}</code>;
  if (setting?.file) return <span>{text.providerKeys.file(setting.file, setting.line)}</span>;
  return <span class="faint">{text.providerKeys.sourceDefault}</span>;
}

function State({ state, until }: PlatformKey) {
  return (
    <span class="row">
      <Badge tone={state === "ok" ? "good" : state === "rate_limited" ? "warn" : "bad"}>
        {text.providerKeys.keyStates[state]}
      </Badge>
      {until === null ? null : (
        <span class="faint">
          {text.providerKeys.until} <Time at={until} />
        </span>
      )}
    </span>
  );
}
