import { useEffect, useId, useRef, useState } from "preact/hooks";
import { filterOptions, type Option } from "../state/filter-options.ts";
import { text } from "../text/text.ts";
import { Icon } from "./icon.tsx";

/** A field with suggestions (ARIA 1.2 combobox with a list). */
export interface ComboboxProps {
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
  readonly hint?: string;
}

/** A field with suggestions: typing filters, arrows move, Enter chooses, Escape closes, an empty text chooses none. */
export function Combobox(props: ComboboxProps) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const shown = typed === null ? [] : filterOptions(props.options, typed);
  const isOpen = typed !== null && shown.length > 0;
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const choose = (value: string | null) => {
    setTyped(null);
    if (value !== props.value) props.onChange(value);
  };
  const commit = () => {
    if (typed === null) return;
    const option = shown[at];
    if (typed.trim() === "") choose(null);
    else if (props.allowsOther && option?.value !== typed.trim() && at === 0 && shown.length !== 1)
      choose(option?.value ?? typed.trim());
    else choose(option?.value ?? (props.allowsOther ? typed.trim() : props.value));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      if (typed === null) open();
      else setAt(Math.max(0, Math.min(shown.length - 1, at + step)));
    } else if (event.key === "Enter" && typed !== null) {
      event.preventDefault();
      commit();
    } else if (event.key === "Escape" && typed !== null) {
      event.preventDefault();
      event.stopPropagation();
      setTyped(null);
    }
  };
  const open = () => {
    props.onOpen?.();
    setAt(0);
    setTyped("");
  };
  const current = props.options.find(({ value }) => value === props.value);
  const chosen = props.value === null ? "" : (current?.label ?? props.valueLabel ?? props.value);
  return (
    <div class={props.hidesLabel ? "combobox" : "combobox field"}>
      <label for={id} class={props.hidesLabel ? "visually-hidden" : undefined}>
        {props.label}
      </label>
      <input
        id={id}
        class="input"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        placeholder={props.hidesLabel ? props.label : undefined}
        title={chosen === "" ? props.label : `${props.label}: ${chosen}`}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isOpen ? `${id}-${at}` : undefined}
        value={typed ?? chosen}
        onFocus={props.onOpen}
        onClick={() => {
          if (typed === null) open();
        }}
        onInput={(event) => {
          setAt(0);
          setTyped(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          // A text that is no option, such as a pasted id, is taken; the beginning of several options is not.
          if (props.allowsOther && typed?.trim() && shown.length <= 1) commit();
          else setTyped(null);
        }}
      />
      {props.value !== null && typed === null ? (
        <button
          type="button"
          class="copy combobox-clear"
          aria-label={text.states.clear(props.label)}
          onClick={() => choose(null)}
        >
          <Icon name="close" size={12} />
        </button>
      ) : null}
      {isOpen ? (
        <div id={`${id}-list`} ref={list} class="combobox-list" role="listbox" aria-label={props.label}>
          {shown.map((option, i) => (
            <div
              key={option.value}
              id={`${id}-${i}`}
              class="option"
              role="option"
              tabIndex={-1}
              aria-selected={i === at}
              onMouseDown={(event) => {
                event.preventDefault();
                choose(option.value);
              }}
            >
              <span class="cut">{option.label}</span>
              {option.detail === undefined ? null : <span class="faint cut">{option.detail}</span>}
            </div>
          ))}
        </div>
      ) : null}
      {props.hint === undefined ? null : <div class="field-hint">{props.hint}</div>}
    </div>
  );
}
