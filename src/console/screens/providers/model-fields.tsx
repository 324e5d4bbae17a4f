import { PriceFields } from "../../parts/config/price-fields.tsx";
import type { TypedPrices } from "../../parts/config/typed-prices.ts";
import { Field } from "../../parts/controls/field.tsx";
import { FieldError } from "../../parts/controls/field-error.tsx";
import { text } from "../../text/text.ts";
import { findProblems, type ModelDraft } from "./model-draft.ts";

const words = text.providers.model;

/** The fields of a model at a host. `showsProblems` also marks fields that are still empty. */
export function ModelFields(props: {
  draft: ModelDraft;
  onChange: (draft: ModelDraft) => void;
  showsProblems: boolean;
  /** Whether the id is fixed, because it identifies the setting. */
  hasFixedId?: boolean;
  hasName?: boolean;
  /** What a copied model has, which applies while a field is empty; null if none is copied. */
  copied?: { readonly context: string; readonly prices: TypedPrices } | null;
}) {
  const { draft, onChange, showsProblems, copied } = props;
  const problems = findProblems(draft);
  const isUnpriced = Object.values(draft.prices).every((typed) => typed.trim() === "");
  return (
    <div class="column">
      <div class="two-fields">
        {props.hasName ? (
          <Field label={words.name} value={draft.name} onInput={(name) => onChange({ ...draft, name })} />
        ) : null}
        {props.hasFixedId ? null : (
          <Field
            label={words.id}
            hint={words.idHint}
            value={draft.id}
            error={showsProblems || draft.id !== "" ? problems.id : null}
            onInput={(id) => onChange({ ...draft, id })}
          />
        )}
        <Field
          label={words.context}
          inputMode="numeric"
          value={draft.context}
          placeholder={copied?.context}
          error={problems.context}
          onInput={(context) => onChange({ ...draft, context })}
        />
      </div>
      <PriceFields
        placeholders={copied?.prices}
        values={draft.prices}
        onChange={(prices) => onChange({ ...draft, prices })}
      />
      {showsProblems && problems.prices !== null ? (
        <FieldError error={problems.prices} />
      ) : isUnpriced && draft.copyOf === null ? (
        <p class="field-hint">{words.unpriced}</p>
      ) : null}
    </div>
  );
}
