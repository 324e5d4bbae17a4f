import { text } from "../../text/text.ts";
import { Segments } from "../controls/segments.tsx";

const CHOICES = [
  { value: "form", label: text.lists.form },
  { value: "json", label: text.lists.json },
] as const;

/** The switch between the form of a resource and its JSON. */
export function FormOrJson(props: { label: string; isJson: boolean; onToggle: () => void }) {
  return (
    <Segments
      label={props.label}
      value={props.isJson ? "json" : "form"}
      choices={CHOICES}
      onChange={props.onToggle}
    />
  );
}
