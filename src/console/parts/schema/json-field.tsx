import { useState } from "preact/hooks";
import { text } from "../../text/text.ts";
import { TextArea } from "../controls/field.tsx";
import type { SchemaFieldProps } from "./field-props.ts";

/** A value as JSON. A text that is no JSON changes nothing. */
export function JsonField({ schema, path, label, value, onChange, form, hidesLabel }: SchemaFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const read = typed === null ? null : readJson(typed);
  const isSame = read !== null && ("problem" in read || JSON.stringify(read.value) === JSON.stringify(value));
  const shown = isSame ? (typed ?? "") : value === undefined ? "" : JSON.stringify(value, null, 2);
  return (
    <TextArea
      label={label}
      hidesLabel={hidesLabel}
      hint={hidesLabel ? undefined : schema.description}
      rows={Math.min(20, Math.max(4, shown.split("\n").length))}
      error={read !== null && "problem" in read ? read.problem : form.errorOf(path)}
      value={shown}
      onInput={(next) => {
        setTyped(next);
        const parsed = readJson(next);
        if ("value" in parsed) onChange(parsed.value);
      }}
    />
  );
}

function readJson(typed: string): { readonly value: unknown } | { readonly problem: string } {
  if (typed.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(typed) as unknown };
  } catch (error) {
    return { problem: text.schema.notJson((error as Error).message) };
  }
}
