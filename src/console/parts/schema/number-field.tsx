import { useId, useState } from "preact/hooks";
import { FieldAbout } from "../controls/field.tsx";
import type { SchemaFieldProps } from "./field-props.ts";
import { unitOf } from "./units.ts";

/** A field for a number with its unit. What is no number stays as it was typed, so that the API says what is wrong with it. */
export function NumberField(props: SchemaFieldProps) {
  const { schema, path, label, value, onChange } = props;
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const shown =
    typed !== null && readNumber(typed) === value ? typed : value === undefined ? "" : String(value);
  const unit = unitOf(path.at(-1) ?? "");
  const human = typeof value === "number" ? (unit?.print(value) ?? null) : null;
  const hint = [human === null ? null : `= ${human}`, props.hidesLabel ? null : schema.description];
  const error = props.form.errorOf(path);
  return (
    <div class="field">
      <label for={id} class={props.hidesLabel ? "visually-hidden" : undefined}>
        {label}
      </label>
      <div class="with-unit">
        <input
          id={id}
          class="input"
          inputMode="decimal"
          autocomplete="off"
          placeholder={schema.default === undefined ? undefined : String(schema.default)}
          aria-invalid={error === null ? undefined : true}
          aria-describedby={`${id}-about`}
          value={shown}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            onChange(readNumber(event.currentTarget.value));
          }}
        />
        {unit === null ? null : <span class="unit">{unit.name}</span>}
      </div>
      <FieldAbout id={id} hint={hint.filter(Boolean).join(" · ")} error={error} />
    </div>
  );
}

function readNumber(typed: string): number | string | undefined {
  const trimmed = typed.trim();
  if (trimmed === "") return undefined;
  const number = Number(trimmed.replaceAll("_", ""));
  return Number.isFinite(number) ? number : trimmed;
}
