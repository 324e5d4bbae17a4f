import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Tier } from "../../api/schema.ts";
import { TextArea } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { FormOrJson } from "../../parts/forms/form-or-json.tsx";
import { RemoveButton } from "../../parts/forms/remove-button.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { Explain } from "./explain.tsx";
import { ResolvesTo } from "./resolves-to.tsx";
import { TierFields } from "./tier-fields.tsx";
import {
  findMissing,
  fromDraft,
  NEW_TIER,
  PREFIX,
  printSource,
  switchForm,
  type TierDraft,
  toDraft,
} from "./tier-form.ts";

interface EditorProps {
  /** The tier to edit; null to create one. */
  readonly tier: Tier | null;
  readonly onChanged: (id: string | null) => void;
}

/**
 * The editor of a tier, as a form or as JSON, and how a request would be routed with the tier as it is typed. A tier of the
 * configuration file is read-only.
 */
export function TierEditor({ tier, onChanged }: EditorProps) {
  const { form, problem, change, toggle, submit } = useTierForm({ tier, onChanged });
  const { values } = form;
  const read = fromDraft(values);
  return (
    <>
      <section class="card">
        <div class="card-head">
          <h2 class="cut">{tier?.id ?? text.routing.newTitle}</h2>
          <span class="grow" />
          <FormOrJson label={text.routing.formOrJson} isJson={values.isJson} onToggle={toggle} />
        </div>
        <form class="card-body stack" onSubmit={submit}>
          {tier === null ? null : <Source tier={tier} />}
          <FormError error={form.error} form={form} />
          {values.isJson ? (
            <TextArea
              label={text.routing.jsonLabel}
              rows={16}
              error={problem}
              value={values.json}
              onInput={(json) => change({ json })}
            />
          ) : (
            <TierFields draft={values} isNew={tier === null} errorOf={form.errorOf} onChange={change} />
          )}
          {isFixed(tier) ? null : (
            <SaveBar form={form}>
              {tier?.source === "database" ? (
                <RemoveTier tier={tier} onRemoved={() => onChanged(null)} />
              ) : null}
            </SaveBar>
          )}
        </form>
      </section>
      {tier === null ? null : <ResolvesTo tier={tier} />}
      <Explain
        tried={{ tier: { ...("tier" in read ? read.tier : NEW_TIER), id: PREFIX + values.id } }}
        missing={findMissing(values)}
      />
    </>
  );
}

/** Returns whether a tier is read-only, because the configuration file defines it. */
function isFixed(tier: Tier | null): boolean {
  return tier?.source === "file";
}

/** Returns the state of the form, the problem of its JSON (null if there is none), and the handlers that change and send it. */
function useTierForm({ tier, onChanged }: EditorProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const form = useForm<TierDraft, Tier>({
    draft: `tier ${tier?.id ?? ""}`,
    initial: toDraft(tier?.id ?? "", tier ?? NEW_TIER),
    fields: ["id", "name"],
    async send(draft) {
      const read = fromDraft(draft);
      const body = "tier" in read ? read.tier : {};
      return (await call("PUT /api/admin/tiers/{id}", { params: { id: draft.id }, body })).data;
    },
    onSent({ id }) {
      showToast(text.routing.saved(id));
      onChanged(id);
    },
  });
  const change = (part: Partial<TierDraft>) => {
    setProblem(null);
    form.set(part);
  };
  const toggle = () => {
    const switched = switchForm(form.values);
    if ("problem" in switched) setProblem(switched.problem);
    else change(switched);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const read = fromDraft(form.values);
    if ("problem" in read) setProblem(read.problem);
    else if (!isFixed(tier)) void form.submit();
  };
  return { form, problem, change, toggle, submit };
}

function Source({ tier }: { tier: Tier }) {
  const place = printSource(tier);
  if (place !== null) return <p class="quiet">{text.routing.readOnly(place)}</p>;
  return tier.source === "catalog" ? <p class="quiet">{text.routing.ofCatalog}</p> : null;
}

function RemoveTier({ tier, onRemoved }: { tier: Tier; onRemoved: () => void }) {
  const { id, replaces } = tier;
  return (
    <RemoveButton
      label={text.routing.remove}
      title={text.routing.removeTitle(id)}
      remove={() => call("DELETE /api/admin/tiers/{id}", { params: { id } })}
      done={text.routing.removed(id)}
      onRemoved={onRemoved}
    >
      {replaces.length > 0 ? text.routing.removeReplaced : text.routing.removeAbout}
    </RemoveButton>
  );
}
