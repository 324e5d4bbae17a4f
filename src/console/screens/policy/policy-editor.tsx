import { useEffect, useRef, useState } from "preact/hooks";
import type { Policy } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Check, TextArea } from "../../parts/controls/field.tsx";
import { ListInput } from "../../parts/controls/list-input.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { FormOrJson } from "../../parts/forms/form-or-json.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { type Form, useForm } from "../../state/form.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { loadModelPatterns, modelPatterns } from "../../state/options/model-patterns.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { DryRun, type TriedOn } from "./dry-run.tsx";
import {
  FLAGS,
  fromDraft,
  LISTS,
  type ListName,
  type PolicyDraft,
  switchForm,
  toDraft,
} from "./policy-form.ts";

/** Whose policy is edited, and how it is saved. */
interface EditorProps {
  /** The id of the account or the team. */
  readonly id: string;
  readonly policy: Policy;
  readonly about: string;
  readonly save: (policy: Partial<Policy>) => Promise<unknown>;
  readonly onSaved: () => void;
  /** On whose recorded requests the policy is tried. */
  readonly triedOn: TriedOn;
  /** Whether the person may save it. */
  readonly isEditable: boolean;
}

/** A policy as a form or as JSON, with a trial on recorded requests. Those who may only try policies change the form and cannot save it. */
export function PolicyEditor(props: EditorProps) {
  const { triedOn, isEditable } = props;
  const canTry = can("inspect");
  const { form, problem, tried, change, toggle, submit, tryOut } = usePolicyForm(props, canTry);
  const tryButton = canTry ? (
    <Button icon="play" onClick={tryOut}>
      {text.people.dryRun}
    </Button>
  ) : null;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.people.policy}</h2>
        <span class="grow" />
        <FormOrJson label={text.people.formOrJson} isJson={form.values.isJson} onToggle={toggle} />
      </div>
      <form class="card-body stack" onSubmit={submit}>
        <p class="quiet">{props.about}</p>
        <FormError error={form.error} form={form} />
        {form.values.isJson ? (
          <TextArea
            label={text.people.jsonLabel}
            rows={14}
            error={problem ?? listError(form)}
            value={form.values.json}
            onInput={(json) => change({ json })}
          />
        ) : (
          <Fields form={form} onChange={change} isDisabled={!isEditable && !canTry} />
        )}
        {isEditable ? <SaveBar form={form}>{tryButton}</SaveBar> : <div class="row">{tryButton}</div>}
        {tried === null ? null : <DryRun of={triedOn} policy={tried} />}
      </form>
    </section>
  );
}

/** How long after the last change a policy is tried. Milliseconds. */
const PAUSE_MS = 400;

/** Returns the state of the form, the problem of its JSON and the policy to try (each null if there is none), and the handlers. */
function usePolicyForm({ id, policy, save, onSaved, isEditable }: EditorProps, canTry: boolean) {
  const [problem, setProblem] = useState<string | null>(null);
  const [tried, setTried] = useState<Policy | null>(null);
  const form = useForm<PolicyDraft, unknown>({
    draft: `policy ${id}`,
    initial: toDraft(policy),
    fields: LISTS.map((name) => `policy.${name}`),
    send(draft) {
      const read = fromDraft(draft);
      return save("policy" in read ? read.policy : {});
    },
    onSent() {
      showToast(text.lists.saved);
      setTried(null);
      onSaved();
    },
  });
  const withPolicy = (use: (policy: Policy) => void) => {
    const read = fromDraft(form.values);
    setProblem("problem" in read ? read.problem : null);
    if ("policy" in read) use(read.policy);
  };
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  /** Tries a changed form on past requests after a pause. JSON is often incomplete while it is typed: a button tries it. */
  const change = (part: Partial<PolicyDraft>) => {
    const next = { ...form.values, ...part };
    setTried(null);
    setProblem(null);
    form.set(part);
    clearTimeout(timer.current);
    if (canTry && !next.isJson && hasChanged(next, policy))
      timer.current = setTimeout(() => {
        const read = fromDraft(next);
        if ("policy" in read) setTried(read.policy);
      }, PAUSE_MS);
  };
  const toggle = () => {
    const switched = switchForm(form.values);
    if ("problem" in switched) setProblem(switched.problem);
    else change(switched);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (isEditable) withPolicy(() => void form.submit());
  };
  return { form, problem, tried, change, toggle, submit, tryOut: () => withPolicy(setTried) };
}

/** Whether a form without JSON describes another policy. */
function hasChanged(draft: PolicyDraft, policy: Policy): boolean {
  return JSON.stringify(fromDraft(draft)) !== JSON.stringify(fromDraft(toDraft(policy)));
}

/** Returns what the API says about any of the lists. */
function listError(form: Form<PolicyDraft>): string | null {
  return LISTS.map((name) => form.errorOf(`policy.${name}`)).find((error) => error !== null) ?? null;
}

const HINTS: Readonly<Record<ListName, string>> = {
  allowed_models: text.people.allowedModelsHint,
  denied_models: text.people.deniedModelsHint,
  allowed_providers: text.people.allowedProvidersHint,
  denied_providers: text.people.deniedProvidersHint,
};

function suggestionsFor(name: ListName) {
  return name.endsWith("models")
    ? { options: modelPatterns(), onOpen: loadModelPatterns }
    : { options: optionsOf("providers"), onOpen: () => loadOptions("providers") };
}

function Fields({
  form,
  onChange,
  isDisabled,
}: {
  form: Form<PolicyDraft>;
  onChange: (part: Partial<PolicyDraft>) => void;
  isDisabled: boolean;
}) {
  return (
    <>
      <div class="fields two">
        {LISTS.map((name) => (
          <ListInput
            key={name}
            label={text.people[name]}
            hint={HINTS[name]}
            error={form.errorOf(`policy.${name}`)}
            value={form.values[name]}
            onInput={(value) => onChange({ [name]: value })}
            isDisabled={isDisabled}
            {...suggestionsFor(name)}
          />
        ))}
      </div>
      <div class="column">
        {FLAGS.map((name) => (
          <Check
            key={name}
            label={text.people[name]}
            isChecked={form.values[name]}
            onChange={(isChecked) => onChange({ [name]: isChecked })}
            isDisabled={isDisabled}
          />
        ))}
        <Check
          label={text.people.marksCaches}
          isChecked={form.values.marksCaches}
          onChange={(marksCaches) => onChange({ marksCaches })}
          isDisabled={isDisabled}
        />
      </div>
    </>
  );
}
