import { useId, useState } from "preact/hooks";
import { filterOptions, type Option } from "../../state/filter-options.ts";
import { text } from "../../text/text.ts";
import { Icon } from "../values/icon.tsx";
import { FieldAbout } from "./field.tsx";
import { moveBy, OptionList, optionId } from "./option-list.tsx";

/** A field with suggestions (ARIA 1.2 combobox with a list). */
interface ComboboxProps {
  readonly label: string;
  /** The chosen value; null for none. */
  readonly value: string | null;
  /** What is shown for the value if the options are not loaded. */
  readonly valueLabel?: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string | null) => void;
  /** Called when the field gets the focus, to load the options. */
  readonly onOpen?: () => void;
  /** Whether a text that is not an option may be chosen. */
  readonly allowsOther?: boolean;
  readonly hidesLabel?: boolean;
  /** Whether the field has the focus when its dialog opens. */
  readonly hasFocus?: boolean;
  readonly hint?: string | undefined;
  /** What is wrong with the value; null if nothing is. */
  readonly error?: string | null;
}

/** A field with suggestions: typing filters, arrows move, Enter chooses, Escape closes, an empty text chooses none. */
export function Combobox(props: ComboboxProps) {
  const id = useId();
  const { typed, at, shown, choose, ...events } = useSuggestions(props);
  const isOpen = typed !== null && shown.length > 0;
  const current = props.options.find(({ value }) => value === props.value);
  const chosen = props.value === null ? "" : (current?.label ?? props.valueLabel ?? props.value);
  const listId = `${id}-list`;
  return (
    <div class={props.hidesLabel ? "combobox" : "combobox field"}>
      <label for={id} class={props.hidesLabel ? "visually-hidden" : undefined}>
        {props.label}
      </label>
      <div class="combobox-box">
        <input
          id={id}
          class="input"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          autofocus={props.hasFocus}
          placeholder={props.hidesLabel ? props.label : undefined}
          title={chosen === "" ? props.label : `${props.label}: ${chosen}`}
          aria-invalid={props.error ? true : undefined}
          aria-describedby={props.hint || props.error ? `${id}-about` : undefined}
          aria-expanded={isOpen}
          aria-controls={isOpen ? listId : undefined}
          aria-autocomplete="list"
          aria-activedescendant={isOpen ? optionId(listId, at) : undefined}
          value={typed ?? chosen}
          onFocus={props.onOpen}
          {...events}
        />
        {props.value === null || typed !== null ? null : (
          <ClearButton label={text.states.clear(props.label)} onClick={() => choose(null)} />
        )}
        {isOpen ? (
          <OptionList
            id={listId}
            class="combobox-list"
            label={props.label}
            options={shown}
            at={at}
            onChoose={({ value }) => choose(value)}
          />
        ) : null}
      </div>
      <FieldAbout id={id} hint={props.hint} error={props.error} />
    </div>
  );
}

function ClearButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" class="copy combobox-clear" aria-label={label} onClick={onClick}>
      <Icon name="close" size={12} />
    </button>
  );
}

/** What was typed, null while the list is closed; the options that match; and the events of the field. */
function useSuggestions({ value, options, allowsOther, onChange, onOpen }: ComboboxProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const shown = typed === null ? [] : filterOptions(options, typed);
  const choose = (chosen: string | null) => {
    setTyped(null);
    if (chosen !== value) onChange(chosen);
  };
  const type = (text: string) => {
    setAt(0);
    setTyped(text);
  };
  const open = () => {
    onOpen?.();
    type("");
  };
  const commit = () => choose(pickValue({ typed: typed ?? "", at, shown, allowsOther, before: value }));
  return {
    typed,
    at,
    shown,
    choose,
    onClick: () => {
      if (typed === null) open();
    },
    onInput: (event: { currentTarget: HTMLInputElement }) => type(event.currentTarget.value),
    onKeyDown: (event: KeyboardEvent) => {
      const next = moveBy(event.key, at, shown.length);
      if (next !== null && typed === null) open();
      else if (next !== null) setAt(next);
      else if (event.key === "Enter" && typed !== null) commit();
      else if (event.key === "Escape" && typed !== null) {
        event.stopPropagation();
        setTyped(null);
      } else return;
      event.preventDefault();
    },
    onBlur: () => {
      // A text that is no option, such as a pasted id, is taken; the beginning of several options is not.
      if (allowsOther && typed?.trim() && shown.length <= 1) commit();
      else setTyped(null);
    },
  };
}

/** Returns the value that Enter chooses: the marked option, or the typed text where that is allowed. */
function pickValue(state: {
  readonly typed: string;
  readonly at: number;
  readonly shown: readonly Option[];
  readonly allowsOther: boolean | undefined;
  readonly before: string | null;
}): string | null {
  const typed = state.typed.trim();
  if (typed === "") return null;
  return state.shown[state.at]?.value ?? (state.allowsOther ? typed : state.before);
}
