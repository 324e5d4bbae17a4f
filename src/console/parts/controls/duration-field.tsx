import { useId, useState } from "preact/hooks";
import { text } from "../../text/text.ts";
import { chooseUnit, type DurationUnit, fromUnit, toUnit, UNITS } from "../values/duration-units.ts";
import { FieldAbout } from "./field.tsx";

/** A field for a duration: a number and its unit. The value is a number of seconds as text; what is no number stays as it was typed. */
export function DurationField(props: {
  label: string;
  hint?: string;
  error?: string | null;
  placeholder?: string;
  value: string;
  onInput: (seconds: string) => void;
  isDisabled?: boolean;
}) {
  const id = useId();
  const [unit, setUnit] = useState<DurationUnit>(() => chooseUnit(props.value));
  const [typed, setTyped] = useState<string | null>(null);
  const isSame = typed !== null && fromUnit(typed, unit) === props.value;
  const put = (number: string, chosen: DurationUnit) => {
    setTyped(number);
    setUnit(chosen);
    props.onInput(fromUnit(number, chosen));
  };
  const shown = isSame ? typed : toUnit(props.value, unit);
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <div class="duration-field">
        <input
          id={id}
          class="input"
          inputMode="decimal"
          autocomplete="off"
          placeholder={props.placeholder}
          disabled={props.isDisabled}
          aria-invalid={props.error ? true : undefined}
          aria-describedby={props.hint || props.error ? `${id}-about` : undefined}
          value={shown}
          onInput={(event) => put(event.currentTarget.value, unit)}
        />
        <select
          class="select"
          aria-label={text.durations.unitOf(props.label)}
          value={unit}
          disabled={props.isDisabled}
          onChange={(event) => put(shown, event.currentTarget.value as DurationUnit)}
        >
          {UNITS.map((name) => (
            <option key={name} value={name}>
              {text.durations.units[name]}
            </option>
          ))}
        </select>
      </div>
      <FieldAbout id={id} hint={props.hint} error={props.error} />
    </div>
  );
}
