import { useState } from "preact/hooks";
import type { ConfigSecret } from "../../api/schema.ts";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { Field } from "../controls/field.tsx";

interface SecretFieldProps {
  readonly label: string;
  /** The stored secret; null if there is none. Its value is never shown. */
  readonly stored: Pick<ConfigSecret, "last_four"> | null;
  /** The new value; empty keeps the stored one. */
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string;
  readonly error?: string | null;
  readonly isRequired?: boolean;
  readonly hasFocus?: boolean;
}

/** A field for a secret. A stored one is shown by its last characters, with a button to replace it. */
export function SecretField({ stored, value, onInput, ...props }: SecretFieldProps) {
  const [isReplaced, setReplaced] = useState(false);
  if (stored !== null && !isReplaced && value === "")
    return (
      <div class="field">
        <span class="field-label">{props.label}</span>
        <span class="row secret-stored">
          <code>{printSecret(stored)}</code>
          <Button
            size="small"
            label={text.config.replaceLabel(props.label)}
            onClick={() => setReplaced(true)}
          >
            {text.config.replace}
          </Button>
        </span>
      </div>
    );
  return (
    <Field
      {...props}
      hint={props.hint ?? text.config.secretHint}
      hasFocus={props.hasFocus ?? stored !== null}
      type="password"
      autocomplete="new-password"
      value={value}
      onInput={onInput}
    />
  );
}

/** Returns what is shown of a stored secret: "…1234". */
export function printSecret({ last_four }: Pick<ConfigSecret, "last_four">): string {
  return last_four === "" ? "••••" : `…${last_four}`;
}
