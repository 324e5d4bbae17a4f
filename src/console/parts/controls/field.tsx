import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Prose } from "../values/prose.tsx";
import { FieldError } from "./field-error.tsx";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value; null if nothing is. */
  readonly error?: string | null;
  /** Whether the label is only for assistive technology. */
  readonly hidesLabel?: boolean;
}

interface TextProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly placeholder?: string;
}

interface InputProps extends TextProps {
  readonly type?: "text" | "password" | "number" | "date" | "datetime-local" | "search" | "email";
  readonly isRequired?: boolean;
  /** Whether the field has the focus at first. */
  readonly hasFocus?: boolean;
  readonly autocomplete?: string;
  readonly inputMode?: "decimal" | "numeric";
  readonly isDisabled?: boolean;
}

/** A text field with its label, a hint, and what is wrong with its value. */
export function Field({ type = "text", ...props }: InputProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [hasFocus] = useState(props.hasFocus);
  // The attribute alone works in a new document or dialog, and not in a form that opens later.
  useEffect(() => {
    if (hasFocus) input.current?.focus();
  }, [hasFocus]);
  return (
    <Labelled id={id} {...props}>
      <input
        ref={input}
        {...toAttributes(id, props)}
        class="input"
        title={props.hidesLabel ? props.label : undefined}
        type={type as "text"}
        required={props.isRequired}
        autofocus={hasFocus}
        autocomplete={props.autocomplete ?? "off"}
        inputmode={props.inputMode}
        disabled={props.isDisabled}
      />
    </Labelled>
  );
}

/** A field of several lines with its label. */
export function TextArea({ rows = 4, ...props }: TextProps & { readonly rows?: number }) {
  const id = useId();
  return (
    <Labelled id={id} {...props}>
      <textarea {...toAttributes(id, props)} class="textarea" rows={rows} />
    </Labelled>
  );
}

/** Returns the attributes that text fields of one line and of several have in common. */
function toAttributes(id: string, { value, onInput, placeholder, hint, error }: TextProps) {
  return {
    id,
    value,
    placeholder,
    spellcheck: false,
    "aria-invalid": error ? true : undefined,
    "aria-describedby": hint || error ? `${id}-about` : undefined,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
}

interface LabelledProps extends FieldProps {
  readonly id: string;
  readonly children: ComponentChildren;
}

/** The label above a field, and its hint or what is wrong below it. */
function Labelled({ id, label, hidesLabel, hint, error, children }: LabelledProps) {
  return (
    <div class="field">
      <label for={id} class={hidesLabel ? "visually-hidden" : undefined}>
        {label}
      </label>
      {children}
      <FieldAbout id={id} hint={hint} error={error} />
    </div>
  );
}

/** The hint of a field, or what is wrong with its value. The field refers to it by `aria-describedby`. */
export function FieldAbout({ id, hint, error }: { id: string } & Pick<FieldProps, "hint" | "error">) {
  if (error) return <FieldError id={`${id}-about`} error={error} />;
  return hint ? (
    <div id={`${id}-about`} class="field-hint">
      {typeof hint === "string" ? <Prose>{hint}</Prose> : hint}
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
  readonly isDisabled?: boolean;
}

/** A native select with its label. */
export function Select({ value, choices, onChange, isDisabled, ...props }: SelectProps) {
  const id = useId();
  return (
    <Labelled id={id} {...props}>
      <select
        id={id}
        class="select"
        value={value}
        disabled={isDisabled}
        title={props.hidesLabel ? props.label : undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** A check box with its label, and a hint below it. */
export function Check(props: {
  label: ComponentChildren;
  hint?: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  isDisabled?: boolean;
}) {
  const id = useId();
  const box = (
    <label class="check">
      <input
        type="checkbox"
        checked={props.isChecked}
        disabled={props.isDisabled}
        aria-describedby={props.hint === undefined ? undefined : `${id}-about`}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
  if (props.hint === undefined) return box;
  return (
    <div>
      {box}
      <FieldAbout id={id} hint={props.hint} />
    </div>
  );
}
