import { useState } from "preact/hooks";
import { Field, Select, TextArea } from "../../parts/controls/field.tsx";
import { text } from "../../text/text.ts";
import { type Case, changeCase, listCases, readModels, type TierDraft, type TierPick } from "./tier-form.ts";

const EFFORTS = ["enabled", "none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The form of a tier: its id, name and description, and for each case of its rule the models and the reasoning effort. */
export function TierFields(props: {
  draft: TierDraft;
  isNew: boolean;
  errorOf: (field: string) => string | null;
  onChange: (part: Partial<TierDraft>) => void;
}) {
  const { draft, onChange } = props;
  const { rule } = draft;
  return (
    <>
      <div class="fields">
        {props.isNew ? (
          <Field
            label={text.routing.id}
            hint={text.routing.idHint}
            error={props.errorOf("id")}
            value={draft.id}
            isRequired
            onInput={(id) => onChange({ id })}
          />
        ) : null}
        <Field
          label={text.routing.name}
          error={props.errorOf("name")}
          value={draft.name}
          isRequired
          onInput={(name) => onChange({ name })}
        />
        <Field
          label={text.routing.description}
          value={draft.description}
          onInput={(description) => onChange({ description })}
        />
      </div>
      <div class="fields">
        {listCases(rule).map((one) => (
          <CaseFields
            key={one.id}
            one={one}
            onChange={(pick) => onChange({ rule: changeCase(rule, one.id, pick) })}
          />
        ))}
        {rule.by === "free" ? (
          <Lines
            label={text.routing.except}
            hint={text.routing.exceptHint}
            value={rule.except ?? []}
            onChange={(except) => onChange({ rule: { ...rule, except } })}
          />
        ) : null}
        {rule.by === "free" ? (
          <Lines
            label={text.routing.last}
            hint={text.routing.modelsHint}
            value={rule.last ?? []}
            onChange={(last) => onChange({ rule: { ...rule, last } })}
          />
        ) : null}
      </div>
    </>
  );
}

function CaseFields({ one, onChange }: { one: Case; onChange: (pick: TierPick) => void }) {
  const { pick, when } = one;
  const setReasoning = (value: string) => {
    const { reasoning: _, ...rest } = pick;
    onChange(value === "" ? rest : { ...rest, reasoning: value as (typeof EFFORTS)[number] });
  };
  return (
    <div class="column">
      <Lines
        label={text.routing.models(when)}
        hint={text.routing.modelsHint}
        value={pick.models}
        onChange={(models) => onChange({ ...pick, models })}
      />
      <Select
        label={`${text.routing.reasoning} ${when}`}
        value={pick.reasoning ?? ""}
        choices={[
          { value: "", label: text.routing.asAsked },
          ...EFFORTS.map((value) => ({ value, label: value })),
        ]}
        onChange={setReasoning}
      />
    </div>
  );
}

/**
 * A text area with one list item per line. While the typed text means the same as `value`, it is shown as typed, for example with an empty
 * last line.
 */
function Lines(props: {
  label: string;
  hint: string;
  value: readonly string[];
  onChange: (value: string[]) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const same = typed !== null && readModels(typed).join("\n") === props.value.join("\n");
  return (
    <TextArea
      label={props.label}
      hint={props.hint}
      rows={5}
      value={same ? typed : props.value.join("\n")}
      onInput={(value) => {
        setTyped(value);
        props.onChange(readModels(value));
      }}
    />
  );
}
