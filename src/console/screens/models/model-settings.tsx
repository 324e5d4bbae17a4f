import { useState } from "preact/hooks";
import type { ConfigEdit, LoadedConfig } from "../../parts/config/config-types.ts";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { findPinned, inForceAt, storedAt } from "../../parts/config/read-config.ts";
import { type Config, useConfig } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { forgetCatalog } from "../../state/catalog/load-models.ts";
import type { ModelDetails } from "../../state/catalog/model-types.ts";
import { navigate } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { EndpointPrices } from "./endpoint-prices.tsx";
import { limitsPath, ModelLimits } from "./model-limits.tsx";
import {
  type EndpointOverride,
  type ModelOverride,
  overridePath,
  toEdit,
  withEndpoint,
  withHidden,
} from "./override-draft.ts";

const words = text.models.operator;

/** What the operator sets for a model: whether and where it is served, its prices, and its limits. */
export function ModelSettings({ model, onChanged }: { model: ModelDetails; onChanged: () => void }) {
  const config = useConfig();
  const { data, error, reload } = config;
  const changed = () => {
    forgetCatalog();
    reload();
    onChanged();
  };
  return (
    <section>
      <h2>{words.title}</h2>
      <p class="quiet section-about">{words.about}</p>
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data === null ? (
        error === null ? (
          <Skeleton lines={4} />
        ) : null
      ) : (
        <div class="stack">
          <Service model={model} config={config} loaded={data} onChanged={changed} />
          <ModelLimits id={model.id} config={config} loaded={data} onChanged={changed} />
        </div>
      )}
    </section>
  );
}

interface ServiceProps {
  readonly model: ModelDetails;
  readonly config: Config;
  readonly loaded: LoadedConfig;
  readonly onChanged: () => void;
}

/** A provider's service of the model, as the operator changes it. */
interface EndpointRow {
  readonly provider: string;
  readonly name: string;
  readonly override: EndpointOverride;
  readonly endpoint: ModelDetails["endpoints"][number] | null;
  /** Whether the configuration of the provider adds the model: it is changed there. */
  readonly isOfProvider: boolean;
}

function Service({ model, config, loaded, onChanged }: ServiceProps) {
  const [isHiding, setHiding] = useState(false);
  const [priced, setPriced] = useState<EndpointRow | null>(null);
  const path = overridePath(model.id);
  const pinned = findPinned(loaded, path);
  const override = (storedAt(loaded, path) ?? {}) as ModelOverride;
  const save = (edit: ConfigEdit) => config.save([edit]);
  const show = (row: EndpointRow, isHidden: boolean) => {
    const changes = { hidden: isHidden ? true : undefined };
    const edit = toEdit(model.id, withEndpoint(override, row.provider, changes));
    save(edit).then(() => {
      showToast(isHidden ? words.endpointHidden(row.name) : words.endpointShown(row.name));
      onChanged();
    }, showFailure);
  };
  return (
    <div class="card">
      <div class="card-head">
        <h3>{words.service}</h3>
        {pinned === null ? null : <PinnedNote pinned={pinned} />}
        <span class="grow" />
        {pinned === null ? (
          <Button size="small" onClick={() => setHiding(true)}>
            {words.hideModel}
          </Button>
        ) : null}
      </div>
      <Table
        label={words.service}
        columns={[...COLUMNS, ...(pinned === null ? [actionColumn(show, setPriced)] : [])]}
        rows={listRows(model, override, loaded)}
        keyOf={({ provider }) => provider}
        hasCards
      />
      {isHiding ? (
        <HideModel
          model={model}
          onHide={() =>
            config.save([toEdit(model.id, withHidden(override, true)), ...dropLimits(model.id, loaded)])
          }
          onClose={() => setHiding(false)}
        />
      ) : null}
      {priced === null ? null : (
        <EndpointPrices
          name={priced.name}
          pricing={currentOf(priced)}
          own={priced.override.prices ?? null}
          onSave={(prices) => save(toEdit(model.id, withEndpoint(override, priced.provider, { prices })))}
          onClose={() => setPriced(null)}
          onDone={() => {
            setPriced(null);
            onChanged();
          }}
        />
      )}
    </div>
  );
}

/** Limits of a model that does not exist are an error. */
function dropLimits(id: string, loaded: LoadedConfig): readonly ConfigEdit[] {
  const path = limitsPath(id);
  return storedAt(loaded, path) === undefined ? [] : [{ path, remove: true }];
}

function listRows(
  model: ModelDetails,
  override: ModelOverride,
  loaded: LoadedConfig,
): readonly EndpointRow[] {
  const hidden = Object.entries(override.endpoints ?? {}).filter(([, one]) => one.hidden === true);
  const known = new Map(model.endpoints.map((endpoint) => [endpoint.provider, endpoint]));
  const slugs = new Set([...known.keys(), ...hidden.map(([slug]) => slug)]);
  return [...slugs].map((provider) => ({
    provider,
    name: known.get(provider)?.provider_name ?? provider,
    override: override.endpoints?.[provider] ?? {},
    endpoint: known.get(provider) ?? null,
    isOfProvider: hasModel(inForceAt(loaded, ["providers", provider, "models"]), model.id),
  }));
}

function hasModel(models: unknown, id: string): boolean {
  return Array.isArray(models) && models.some((one) => String(one?.id).toLowerCase() === id.toLowerCase());
}

function currentOf({ endpoint }: EndpointRow) {
  return endpoint?.prices.find(({ is_current, min_prompt_tokens }) => is_current && min_prompt_tokens === 0)
    ?.pricing;
}

const COLUMNS: readonly Column<EndpointRow>[] = [
  {
    id: "provider",
    title: words.columns.provider,
    minWidth: 160,
    onCard: "title",
    cell: ({ name, provider }) => <a href={`/console/providers/${provider}`}>{name}</a>,
  },
  {
    id: "state",
    title: words.columns.state,
    width: 140,
    onCard: "aside",
    cell: ({ override, endpoint }) => (
      <Badge tone={override.hidden ? "warn" : endpoint?.is_configured ? "good" : "plain"}>
        {override.hidden
          ? words.hidden
          : endpoint?.is_configured
            ? text.models.isServed
            : text.models.reasons.no_provider_key}
      </Badge>
    ),
  },
  {
    id: "prices",
    title: words.columns.prices,
    width: 160,
    cell: ({ override, isOfProvider }) =>
      override.prices ? (
        words.ownPrices
      ) : isOfProvider ? (
        words.ofProvider
      ) : (
        <span class="faint">{words.ofCatalog}</span>
      ),
  },
];

function actionColumn(
  onShow: (row: EndpointRow, isHidden: boolean) => void,
  onPrices: (row: EndpointRow) => void,
): Column<EndpointRow> {
  return {
    id: "actions",
    title: "",
    isNumber: true,
    width: 180,
    onCard: "plain",
    cell: (row) => {
      if (row.isOfProvider) return <a href={`/console/providers/${row.provider}`}>{words.changeThere}</a>;
      const isHidden = row.override.hidden === true;
      const label = isHidden ? words.show : words.hide;
      // Prices of generated images differ by quality and size, for which there are no fields.
      const canPrice = row.endpoint !== null && currentOf(row)?.generated_image === undefined;
      return (
        <span class="row actions">
          {canPrice ? (
            <Button
              size="small"
              kind="bare"
              label={`${words.prices}: ${row.name}`}
              onClick={() => onPrices(row)}
            >
              {words.prices}
            </Button>
          ) : null}
          <Button
            size="small"
            kind="bare"
            label={`${label}: ${row.name}`}
            onClick={() => onShow(row, !isHidden)}
          >
            {label}
          </Button>
        </span>
      );
    },
  };
}

function HideModel(props: { model: ModelDetails; onHide: () => Promise<unknown>; onClose: () => void }) {
  const { model, onClose } = props;
  const hiding = useAction();
  const hide = () =>
    hiding.run(async () => {
      await props.onHide();
      forgetCatalog();
      showToast(words.modelHidden(model.name));
      navigate("/console/models");
    });
  return (
    <Confirm
      title={words.hideTitle(model.name)}
      action={words.hideModel}
      isBusy={hiding.isBusy}
      onConfirm={() => void hide()}
      onClose={onClose}
    >
      <FormError error={hiding.error} />
      <p>{words.hideAbout}</p>
    </Confirm>
  );
}
