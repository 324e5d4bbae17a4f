import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value; null if nothing is. */
  readonly error?: string | null;
}

interface InputProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "password" | "number" | "date" | "datetime-local" | "search" | "email";
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly hasFocus?: boolean;
  readonly autocomplete?: string;
  readonly inputMode?: "decimal" | "numeric";
  readonly isDisabled?: boolean;
}

/** A text field with its label, a hint, and what is wrong with its value. */
export function Field({ label, hint, error, value, onInput, type = "text", ...props }: InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type={type as "text"}
        value={value}
        placeholder={props.placeholder}
        required={props.isRequired}
        autofocus={props.hasFocus}
        autocomplete={props.autocomplete ?? "off"}
        inputmode={props.inputMode}
        disabled={props.isDisabled}
        spellcheck={false}
        aria-invalid={error ? true : undefined}
        aria-describedby={hint || error ? `${id}-about` : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <FieldAbout id={id} hint={hint} error={error} />
    </div>
  );
}

function FieldAbout({ id, hint, error }: { id: string } & Pick<FieldProps, "hint" | "error">) {
  if (error)
    return (
      <div id={`${id}-about`} class="field-error" role="alert">
        {error}
      </div>
    );
  return hint ? (
    <div id={`${id}-about`} class="field-hint">
      {hint}
    </div>
  ) : null;
}

/** A choice of a select: its value, and what is shown. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SelectProps extends FieldProps {
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
  /** Whether the label is only for assistive technology. */
  readonly hidesLabel?: boolean;
}

/** A native select with its label. */
export function Select({ label, hint, error, value, choices, onChange, hidesLabel }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={hidesLabel ? "visually-hidden" : undefined}>
        {label}
      </label>
      <select
        id={id}
        class="select"
        value={value}
        title={hidesLabel ? label : undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <FieldAbout id={id} hint={hint} error={error} />
    </div>
  );
}

interface TextAreaProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
}

/** A field of several lines with its label. */
export function TextArea({ label, hint, error, value, onInput, rows = 4, placeholder }: TextAreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="textarea"
        rows={rows}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        aria-invalid={error ? true : undefined}
        aria-describedby={hint || error ? `${id}-about` : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <FieldAbout id={id} hint={hint} error={error} />
    </div>
  );
}

/** A check box with its label. */
export function Check(props: {
  label: ComponentChildren;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.isChecked}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}
