import { Icon } from "../values/icon.tsx";

interface SearchInputProps {
  readonly label: string;
  /** Absent: the label. */
  readonly placeholder?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** The id of the text that says what is wrong with the value; null if nothing is. */
  readonly errorId?: string | null;
  readonly class?: string;
  /** Whether the field has the focus at first. */
  readonly hasFocus?: boolean;
}

/** A search field whose label is for assistive technology only. */
export function SearchInput(props: SearchInputProps) {
  return (
    <div class={["input-group", props.class].filter(Boolean).join(" ")}>
      <Icon name="search" />
      <input
        class="input"
        type="search"
        aria-label={props.label}
        placeholder={props.placeholder ?? props.label}
        value={props.value}
        autofocus={props.hasFocus}
        aria-invalid={props.errorId ? true : undefined}
        aria-describedby={props.errorId ?? undefined}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </div>
  );
}
