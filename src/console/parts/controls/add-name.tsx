import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";

interface AddNameProps {
  /** Of the field, for assistive technology. */
  readonly label: string;
  readonly placeholder: string;
  /** The text of the button; absent: only its icon, with the label. */
  readonly buttonText?: string;
  readonly class: string;
  readonly onAdd: (name: string) => void;
}

/** A field for the name of a new entry, and a button that adds it. */
export function AddName({ label, placeholder, buttonText, class: classes, onAdd }: AddNameProps) {
  const [name, setName] = useState("");
  const isEmpty = name.trim() === "";
  const add = () => {
    if (isEmpty) return;
    onAdd(name.trim());
    setName("");
  };
  return (
    <div class={`row ${classes}`}>
      <Field label={label} placeholder={placeholder} value={name} onInput={setName} hidesLabel />
      {buttonText === undefined ? (
        <Button icon="plus" label={label} onClick={add} isDisabled={isEmpty} />
      ) : (
        <Button icon="plus" onClick={add} isDisabled={isEmpty}>
          {buttonText}
        </Button>
      )}
    </div>
  );
}
