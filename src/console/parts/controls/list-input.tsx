import { useId, useState } from "preact/hooks";
import type { Option } from "../../state/filter-options.ts";
import { text } from "../../text/text.ts";
import { Icon } from "../values/icon.tsx";
import { FieldAbout } from "./field.tsx";
import { joinEntries, suggestEntries, takeEntries } from "./list-entries.ts";
import { moveBy, OptionList, optionId } from "./option-list.tsx";

interface ListInputProps {
  readonly label: string;
  /** Whether the label is only for assistive technology. */
  readonly hidesLabel?: boolean;
  readonly hint?: string;
  /** What is wrong with an entry; null if nothing is. */
  readonly error?: string | null;
  /** The entries, one per line. */
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Whether an entry may have blanks, so that a blank does not end it. */
  readonly haveBlanks?: boolean;
  readonly options: readonly Option[];
  /** Called when the field gets the focus, to load the options. */
  readonly onOpen?: () => void;
  readonly placeholder?: string;
  readonly isDisabled?: boolean;
}

/**
 * A list of names with suggestions (ARIA 1.2 combobox with a list): Enter, a comma and a blank add what is typed (a blank only if no
 * entry may have one), Backspace removes the last entry. What is typed counts as an entry before it is added, so that saving never loses it.
 */
export function ListInput(props: ListInputProps) {
  const id = useId();
  const { entries, typed, at, shown, remove, choose, ...events } = useEntries(props);
  const isOpen = typed !== null && shown.length > 0;
  const listId = `${id}-list`;
  return (
    <div class="field">
      <label for={id} class={props.hidesLabel ? "visually-hidden" : undefined}>
        {props.label}
      </label>
      <div class="combobox list-input" aria-invalid={props.error ? true : undefined}>
        {entries.map((entry, i) => (
          <Entry
            key={entry}
            entry={entry}
            label={labelOf(props.options, entry)}
            isDisabled={props.isDisabled === true}
            onRemove={() => remove(i)}
          />
        ))}
        <input
          id={id}
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          placeholder={entries.length === 0 ? props.placeholder : undefined}
          disabled={props.isDisabled}
          aria-invalid={props.error ? true : undefined}
          aria-describedby={props.hint || props.error ? `${id}-about` : undefined}
          aria-expanded={isOpen}
          aria-controls={isOpen ? listId : undefined}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && at !== null ? optionId(listId, at) : undefined}
          value={typed ?? ""}
          onFocus={props.onOpen}
          {...events}
        />
        {isOpen ? (
          <OptionList
            id={listId}
            class="combobox-list"
            label={props.label}
            options={shown}
            at={at ?? -1}
            onChoose={({ value }) => choose(value)}
          />
        ) : null}
      </div>
      <FieldAbout id={id} hint={props.hint} error={props.error} />
    </div>
  );
}

function labelOf(options: readonly Option[], entry: string): string {
  return options.find(({ value }) => value === entry)?.label ?? entry;
}

function Entry(props: { entry: string; label: string; isDisabled: boolean; onRemove: () => void }) {
  const { entry, label, isDisabled, onRemove } = props;
  return (
    <span class="list-entry" title={entry}>
      <span class="cut">{label}</span>
      {isDisabled ? null : (
        <button type="button" class="copy" aria-label={text.states.clear(label)} onClick={onRemove}>
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}

/** The entries without the one that is being typed, what is typed (null while the list is closed), the suggestions, and the events. */
function useEntries({ value, onInput, haveBlanks = false, options, onOpen }: ListInputProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const { entries, typed } = takeEntries(value, draft, haveBlanks);
  const { matches } = text.lists.patterns;
  const shown = typed === null ? [] : suggestEntries(options, typed, entries, matches);
  // What is typed chooses the first suggestion; an empty text none.
  const marked = shown[at ?? (typed ? 0 : -1)];
  const put = (next: readonly string[], pending: string | null) => {
    setAt(null);
    setDraft(pending);
    onInput(joinEntries(next, pending ?? ""));
  };
  const open = () => {
    onOpen?.();
    setDraft("");
  };
  const remove = (index: number) =>
    put(
      entries.filter((_, i) => i !== index),
      typed,
    );
  // The list closes, so that it does not cover what comes next. Typing opens it again.
  const choose = (chosen: string) => put([...entries, chosen], null);
  const type = (text: string) => {
    const parts = text.split(haveBlanks ? /[\n,]+/ : /[\s,]+/);
    const pending = parts.pop() ?? "";
    put([...entries, ...parts], pending);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moveBy(event.key, at ?? 0, shown.length);
    if (next !== null && typed === null) open();
    else if (next !== null) setAt(at === null && !typed ? 0 : next);
    else if (event.key === "Enter" && marked !== undefined) choose(marked.value);
    else if (event.key === "Enter" && typed?.trim()) choose(typed);
    else if (event.key === "Escape" && typed !== null) {
      event.stopPropagation();
      put([...entries, typed], null);
    } else if (event.key === "Backspace" && !typed && entries.length > 0) remove(entries.length - 1);
    else return;
    event.preventDefault();
  };
  return {
    entries,
    typed,
    at: marked === undefined ? null : shown.indexOf(marked),
    shown,
    remove,
    choose,
    onClick: () => {
      if (typed === null) open();
    },
    onInput: (event: { currentTarget: HTMLInputElement }) => type(event.currentTarget.value),
    onKeyDown,
    onBlur: () => put(typed ? [...entries, typed] : entries, null),
  };
}
