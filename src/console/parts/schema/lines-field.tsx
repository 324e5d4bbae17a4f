import { useState } from "preact/hooks";
import { text } from "../../text/text.ts";
import { TextArea } from "../controls/field.tsx";

/** Texts with one on each line. While the typed text means the same as the value, it is shown as typed, such as with an empty last line. */
export function LinesField(props: {
  label: string;
  hidesLabel?: boolean;
  hint?: string;
  error?: string | null;
  value: readonly string[];
  onChange: (value: readonly string[]) => void;
}) {
  const { value, onChange, hint, ...field } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const isSame = typed !== null && readLines(typed).join("\n") === value.join("\n");
  return (
    <TextArea
      {...field}
      hint={[hint, text.schema.onePerLine].filter(Boolean).join(" ")}
      rows={Math.min(8, Math.max(2, value.length + 1))}
      value={isSame ? typed : value.join("\n")}
      onInput={(next) => {
        setTyped(next);
        onChange(readLines(next));
      }}
    />
  );
}

function readLines(typed: string): readonly string[] {
  return typed.split("\n").filter((line) => line.trim() !== "");
}
