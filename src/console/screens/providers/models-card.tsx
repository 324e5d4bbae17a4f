import { useState } from "preact/hooks";
import type { LoadedConfig } from "../../parts/config/config-types.ts";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { findPinned, inForceAt, storedAt } from "../../parts/config/read-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";
import { ModelDialog } from "./model-dialog.tsx";
import { editDraft } from "./model-draft.ts";
import { pathOf } from "./provider-rows.ts";
import type { ProviderPart } from "./use-providers.ts";

const words = text.providers;

/** A model of the configuration, with who sets it. */
interface ModelRow {
  readonly id: string;
  readonly model: Readonly<Record<string, unknown>>;
  readonly isStored: boolean;
}

/** The models that a provider serves, and those that the configuration adds to it. */
export function ProviderModels(part: ProviderPart) {
  const { row, providers } = part;
  const [edited, setEdited] = useState<ModelRow | "new" | null>(null);
  const [removed, setRemoved] = useState<string | null>(null);
  const config = providers.config.data;
  if (config === null) return null;
  const rows = listModels(row.slug, config);
  const done = () => {
    setEdited(null);
    setRemoved(null);
    providers.reload();
  };
  return (
    <section class="card" aria-label={words.provider.models}>
      <div class="card-head">
        <h2>{words.provider.models}</h2>
        <span class="quiet">{words.provider.modelsServed(row.models)}</span>
        {row.models === 0 ? null : (
          <a href={`/console/models?provider=${encodeURIComponent(row.slug)}`}>{words.provider.seeModels}</a>
        )}
        <span class="grow" />
        <Button size="small" icon="plus" onClick={() => setEdited("new")}>
          {words.model.add}
        </Button>
      </div>
      {rows.length === 0 ? null : (
        <Table
          label={words.model.list}
          columns={[...COLUMNS, sourceColumn(row.slug, config), actionColumn(setEdited, setRemoved)]}
          rows={rows}
          keyOf={({ id }) => id}
          hasCards
        />
      )}
      {edited === null ? null : (
        <ModelDialog
          slug={row.slug}
          name={row.name}
          config={providers.config}
          draft={edited === "new" ? null : editDraft(edited.model)}
          onClose={() => setEdited(null)}
          onDone={done}
        />
      )}
      {removed === null ? null : (
        <RemoveModel {...part} id={removed} onClose={() => setRemoved(null)} onDone={done} />
      )}
    </section>
  );
}

function RemoveModel(props: ProviderPart & { id: string; onClose: () => void; onDone: () => void }) {
  const { id, row, providers } = props;
  const removing = useAction();
  const remove = () =>
    removing.run(async () => {
      await providers.config.save([{ path: pathOf(row.slug, "models", id), remove: true }]);
      showToast(words.model.removed(id));
      props.onDone();
    });
  return (
    <Confirm
      title={words.model.removeTitle(id)}
      action={words.provider.remove}
      isBusy={removing.isBusy}
      onConfirm={() => void remove()}
      onClose={props.onClose}
    >
      <FormError error={removing.error} />
      <p>{words.model.removeAbout}</p>
    </Confirm>
  );
}

function listModels(slug: string, config: LoadedConfig): readonly ModelRow[] {
  const path = pathOf(slug, "models");
  const stored = storedAt(config, path) ?? [];
  const models = (inForceAt(config, path) ?? stored) as readonly ModelRow["model"][];
  return models.map((model) => {
    const id = String(model["id"]);
    return { id, model, isStored: storedAt(config, [...path, id]) !== undefined };
  });
}

const COLUMNS: readonly Column<ModelRow>[] = [
  {
    id: "id",
    title: words.model.id,
    minWidth: 200,
    onCard: "title",
    hint: ({ id }) => id,
    cell: ({ id }) => (
      <a class="mono" href={`/console/models/${id.split("/").map(encodeURIComponent).join("/")}`}>
        {id}
      </a>
    ),
  },
  {
    id: "name",
    title: words.model.name,
    width: 180,
    hint: ({ model }) => String(model["name"] ?? ""),
    cell: ({ model }) => <span class="mono">{String(model["name"] ?? "–")}</span>,
  },
  {
    id: "context",
    title: words.model.context,
    width: 170,
    isNumber: true,
    cell: ({ model }) =>
      typeof model["context_length"] === "number" ? formatCount(model["context_length"]) : "–",
  },
];

function sourceColumn(slug: string, config: LoadedConfig): Column<ModelRow> {
  return {
    id: "source",
    title: words.columns.source,
    width: 200,
    cell: ({ id, isStored }) => {
      const pinned = findPinned(config, pathOf(slug, "models", id));
      if (pinned !== null) return <PinnedNote pinned={pinned} />;
      return isStored ? words.stored : "–";
    },
  };
}

function actionColumn(onEdit: (row: ModelRow) => void, onRemove: (id: string) => void): Column<ModelRow> {
  return {
    id: "actions",
    title: "",
    isNumber: true,
    width: 140,
    onCard: "plain",
    cell: (row) =>
      row.isStored ? (
        <span class="row actions">
          <Button
            size="small"
            kind="bare"
            label={`${words.model.edit}: ${row.id}`}
            onClick={() => onEdit(row)}
          >
            {words.model.edit}
          </Button>
          <Button
            size="small"
            kind="bare"
            label={words.model.remove(row.id)}
            onClick={() => onRemove(row.id)}
          >
            {words.provider.remove}
          </Button>
        </span>
      ) : null,
  };
}
