import { useState } from "preact/hooks";
import { PinnedNote } from "../../parts/config/pinned-note.tsx";
import { findPinned, inForceAt, storedAt } from "../../parts/config/read-config.ts";
import { useConfig } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Select } from "../../parts/controls/field.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { forgetCatalog } from "../../state/catalog/load-models.ts";
import { text } from "../../text/text.ts";
import { ModelDialog } from "../providers/model-dialog.tsx";
import { listProviderRows } from "../providers/provider-rows.ts";
import { useProviders } from "../providers/use-providers.ts";
import { type ModelOverride, overridePath, toEdit, withHidden } from "./override-draft.ts";

const words = text.models.operator;

/** What the operator can do with the list of models: add one, and show hidden ones again. */
export function OperatorActions({ onChanged }: { onChanged: () => void }) {
  const config = useConfig();
  const [open, setOpen] = useState<"hidden" | "add" | null>(null);
  const { data } = config;
  const overrides = (data === null ? {} : (inForceAt(data, ["catalog", "overrides"]) ?? {})) as Readonly<
    Record<string, ModelOverride>
  >;
  const hidden = Object.keys(overrides).filter((id) => overrides[id]?.hidden === true);
  const changed = () => {
    forgetCatalog();
    config.reload();
    onChanged();
  };
  const show = (id: string) => {
    const override = (data === null ? {} : (storedAt(data, overridePath(id)) ?? {})) as ModelOverride;
    config.save([toEdit(id, withHidden(override, false))]).then(() => {
      showToast(words.modelShown(id));
      changed();
    }, showFailure);
  };
  return (
    <>
      {hidden.length === 0 ? null : (
        <Button kind="bare" onClick={() => setOpen("hidden")}>
          {words.hiddenCount(hidden.length)}
        </Button>
      )}
      <Button icon="plus" onClick={() => setOpen("add")}>
        {text.providers.model.add}
      </Button>
      {open === "hidden" && data !== null ? (
        <Dialog
          title={words.hiddenModels}
          onClose={() => setOpen(null)}
          foot={<Button onClick={() => setOpen(null)}>{text.states.close}</Button>}
        >
          {hidden.length === 0 ? <p class="quiet">{words.noneHidden}</p> : null}
          <ul class="model-choices">
            {hidden.map((id) => {
              const pinned = findPinned(data, overridePath(id));
              return (
                <li key={id} class="row">
                  <span class="mono breaks grow">{id}</span>
                  {pinned === null ? (
                    <Button size="small" label={`${words.show}: ${id}`} onClick={() => show(id)}>
                      {words.show}
                    </Button>
                  ) : (
                    <PinnedNote pinned={pinned} />
                  )}
                </li>
              );
            })}
          </ul>
        </Dialog>
      ) : null}
      {open === "add" ? (
        <AddModel
          onClose={() => setOpen(null)}
          onDone={() => {
            setOpen(null);
            changed();
          }}
        />
      ) : null}
    </>
  );
}

/** Adds a model at one of the configured providers. */
function AddModel(props: { onClose: () => void; onDone: () => void }) {
  const { config, lists } = useProviders();
  const [chosen, setChosen] = useState<string | null>(null);
  const rows =
    config.data === null || lists.data === null
      ? []
      : listProviderRows(config.data, lists.data).filter(({ sources }) => sources.length > 0);
  const row = rows.find(({ slug }) => slug === chosen) ?? rows[0];
  if (row === undefined)
    return <NoProvider isLoading={lists.isLoading || config.isLoading} onClose={props.onClose} />;
  return (
    <ModelDialog slug={row.slug} name={row.name} config={config} draft={null} {...props}>
      <Select
        label={text.providers.columns.provider}
        value={row.slug}
        choices={rows.map(({ slug, name }) => ({ value: slug, label: name }))}
        onChange={setChosen}
      />
    </ModelDialog>
  );
}

function NoProvider({ isLoading, onClose }: { isLoading: boolean; onClose: () => void }) {
  return (
    <Dialog title={text.providers.model.add} onClose={onClose}>
      {isLoading ? (
        <p class="quiet">{text.states.loading}</p>
      ) : (
        <>
          <p>{words.needsProvider}</p>
          <a href="/console/providers?add=1">{text.providers.add}</a>
        </>
      )}
    </Dialog>
  );
}
