import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type TypedPrices, toConfigPrices, typePrices } from "../../parts/config/typed-prices.ts";
import type { Config } from "../../parts/config/use-config.ts";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { loadModel, useCatalog } from "../../state/catalog/load-models.ts";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { isSound, type ModelDraft, NO_DRAFT, toModel } from "./model-draft.ts";
import { ModelFields } from "./model-fields.tsx";
import { pathOf } from "./provider-rows.ts";

const words = text.providers.model;

/** Adds a model at a provider, or changes one: a deployment, an inference profile, or a model of one's own host. */
export function ModelDialog(props: {
  /** The provider at which it is. */
  slug: string;
  name: string;
  config: Config;
  /** The model to change; null to add one. */
  draft: ModelDraft | null;
  /** Further fields, above those of the model. */
  children?: ComponentChildren;
  onClose: () => void;
  onDone: () => void;
}) {
  const { slug, onClose } = props;
  const isNew = props.draft === null;
  const [draft, setDraft] = useState(props.draft ?? NO_DRAFT);
  const [showsProblems, setShowsProblems] = useState(false);
  const saving = useAction();
  const { copyOf } = draft;
  const copied = useLoad(copyOf === null ? null : `copied ${copyOf}`, (signal) =>
    readCopied(copyOf ?? "", slug, signal),
  );
  const save = () =>
    saving.run(async () => {
      const model = toModel(draft);
      await props.config.save([{ path: pathOf(slug, "models", draft.id.trim()), value: model }]);
      showToast(words.saved(draft.id));
      props.onDone();
    });
  const submit = () => {
    setShowsProblems(true);
    if (isSound(draft)) void save();
  };
  return (
    <Dialog
      title={isNew ? words.addTitle(props.name) : words.editTitle(draft.id)}
      isWide
      onClose={onClose}
      onSubmit={submit}
      foot={<DialogButtons submit={words.save} onClose={onClose} isBusy={saving.isBusy} />}
    >
      <FormError error={saving.error} />
      {isNew ? (
        <>
          <p class="quiet">{words.addAbout}</p>
          {props.children}
        </>
      ) : null}
      <CopyOf value={draft.copyOf} onChange={(copyOf) => setDraft({ ...draft, copyOf })} />
      <ModelFields
        draft={draft}
        onChange={setDraft}
        showsProblems={showsProblems}
        copied={copied.data}
        hasName
        hasFixedId={!isNew}
      />
    </Dialog>
  );
}

/** What a copy has unless its form says otherwise. */
interface Copied {
  readonly context: string;
  readonly prices: TypedPrices;
}

/** Returns what a copy of a model has: the context window and prices of the model at the provider, otherwise at its first one. */
async function readCopied(id: string, slug: string, signal: AbortSignal): Promise<Copied> {
  const { endpoints } = await loadModel(id, signal);
  const endpoint = endpoints.find(({ provider }) => provider === slug) ?? endpoints[0];
  const row = endpoint?.prices.find(
    ({ is_current, min_prompt_tokens }) => is_current && min_prompt_tokens === 0,
  );
  return {
    context: endpoint?.context_length.toString() ?? "",
    prices: typePrices(toConfigPrices(row?.pricing)),
  };
}

/** A choice of the model of the catalog that is copied. */
function CopyOf({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const { data } = useCatalog();
  const options = (data?.data ?? []).map(({ id }) => ({ value: id, label: id }));
  return (
    <div class="field">
      <Combobox label={words.copyOf} value={value} options={options} onChange={onChange} />
      <span class="field-hint">{words.copyOfHint}</span>
    </div>
  );
}
