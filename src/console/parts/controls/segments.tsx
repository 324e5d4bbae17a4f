import type { Choice } from "./field.tsx";

/** A choice of few values, all of them in view. */
export function Segments<Value extends string>(props: {
  label: string;
  value: Value;
  choices: readonly (Choice & { readonly value: Value })[];
  onChange: (value: Value) => void;
}) {
  return (
    <fieldset class="segments" aria-label={props.label}>
      {props.choices.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={props.value === value}
          onClick={() => props.onChange(value)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
