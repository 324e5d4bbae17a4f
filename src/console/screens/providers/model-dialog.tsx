import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { typePrices } from "../../parts/config/typed-prices.ts";
import type { Config } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { useAction } from "../../state/action.ts";
import { text } from "../../text/text.ts";
import { loadModel, useCatalog } from "../models/load-models.ts";
import { toConfigPrices } from "../models/override-draft.ts";
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
      foot={
        <>
          <Button onClick={onClose}>{text.states.cancel}</Button>
          <Button kind="primary" isSubmit isBusy={saving.isBusy}>
            {words.save}
          </Button>
        </>
      }
    >
      <FormError error={saving.error} />
      {isNew ? (
        <>
          <p class="quiet">{words.addAbout}</p>
          {props.children}
          <LikeModel slug={slug} onChoose={(like) => setDraft((before) => ({ ...before, ...like }))} />
        </>
      ) : null}
      <ModelFields
        draft={draft}
        onChange={setDraft}
        showsProblems={showsProblems}
        hasName
        hasFixedId={!isNew}
      />
    </Dialog>
  );
}

/** A choice of a model of the catalog, whose context window and prices are taken over. */
function LikeModel(props: { slug: string; onChoose: (like: Partial<ModelDraft>) => void }) {
  const [id, setId] = useState<string | null>(null);
  const { data } = useCatalog();
  const options = (data?.data ?? []).map((model) => ({ value: model.id, label: model.id }));
  useEffect(() => {
    if (id === null) return;
    const loading = new AbortController();
    readLike(id, props.slug, loading.signal).then(props.onChoose, (failure: unknown) => {
      if (!loading.signal.aborted) showFailure(failure);
    });
    return () => loading.abort();
  }, [id]);
  return (
    <div class="field">
      <Combobox label={words.like} value={id} options={options} onChange={setId} />
      <span class="field-hint">{words.likeHint}</span>
    </div>
  );
}

/** Returns what a model of the catalog has at the provider, otherwise at the first one. */
async function readLike(id: string, slug: string, signal: AbortSignal): Promise<Partial<ModelDraft>> {
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
