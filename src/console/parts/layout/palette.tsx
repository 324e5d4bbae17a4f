import { signal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Option } from "../../state/filter-options.ts";
import { navigate } from "../../state/location.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { listItems } from "../../state/palette-items.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { moveBy, OptionList, optionId } from "../controls/option-list.tsx";
import { useKeys } from "../controls/use-keys.ts";
import { Dialog } from "./dialog.tsx";

/** Something that the palette offers: its value is a path of the console. */
interface PaletteProps {
  readonly options: readonly Option[];
  readonly views: readonly Option[];
}

const isOpen = signal(false);
const close = () => {
  isOpen.value = false;
};

/** Opens the palette, for those who have no keyboard. */
export function PaletteButton() {
  return (
    <Button
      kind="bare"
      icon="search"
      label={text.palette.open}
      onClick={() => {
        isOpen.value = true;
      }}
    />
  );
}

/**
 * A list of all screens in front of the page: Ctrl+K or Cmd+K opens it. Typing finds screens, models, keys and accounts by name; any id
 * leads to its page. `?` shows the help for the keyboard.
 */
export function Palette({ options, views }: PaletteProps) {
  const [hasHelp, setHelp] = useState(false);
  useKeys({ "?": () => setHelp(true) });
  // Not an effect, which comes some frames after the page: who sees it may press the keys.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      isOpen.value = !isOpen.peek();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => {
      document.removeEventListener("keydown", onKeyDown);
      close();
    };
  }, []);
  if (isOpen.value) return <OpenPalette options={options} views={views} onClose={close} />;
  return hasHelp ? <KeyboardHelp onClose={() => setHelp(false)} /> : null;
}

function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={text.palette.help} onClose={onClose}>
      <dl class="facts">
        {text.palette.keys.map(([keys, about]) => [
          <dt key={keys}>
            {keys.split(" ").map((key) => (
              <kbd key={key} class="kbd">
                {key}
              </kbd>
            ))}
          </dt>,
          <dd key={`${keys} about`}>{about}</dd>,
        ])}
      </dl>
    </Dialog>
  );
}

function OpenPalette({ options, views, onClose }: PaletteProps & { onClose: () => void }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    dialog.current?.showModal();
    loadOptions("models");
    loadOptions("keys");
    if (isOperator.value) loadOptions("accounts");
  }, []);
  const shown = listShown({ options, views }, typed);
  const choose = (option: Option) => {
    onClose();
    navigate(option.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moveBy(event.key, at, shown.length);
    const marked = shown[at];
    if (next !== null) setAt(next);
    else if (event.key !== "Enter") return;
    else if (marked !== undefined) choose(marked);
    event.preventDefault();
  };
  const type = (value: string) => {
    setTyped(value);
    setAt(0);
  };
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={text.palette.title}
      onClose={onClose}
      onMouseDown={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <PaletteInput
        typed={typed}
        listId={id}
        marked={shown.length === 0 ? undefined : optionId(id, at)}
        onInput={type}
        onKeyDown={onKeyDown}
      />
      <OptionList
        id={id}
        class="palette-list"
        label={text.palette.title}
        options={shown}
        at={at}
        onPoint={setAt}
        onChoose={choose}
      />
      {shown.length === 0 ? <p class="palette-none quiet">{text.palette.none}</p> : null}
    </dialog>
  );
}

function PaletteInput(props: {
  typed: string;
  listId: string;
  /** The id of the marked option. */
  marked: string | undefined;
  onInput: (value: string) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}) {
  return (
    <input
      class="palette-input"
      role="combobox"
      aria-label={text.palette.title}
      aria-expanded={props.marked !== undefined}
      aria-controls={props.listId}
      aria-activedescendant={props.marked}
      placeholder={text.palette.placeholder}
      autocomplete="off"
      spellcheck={false}
      value={props.typed}
      onInput={(event) => props.onInput(event.currentTarget.value)}
      onKeyDown={props.onKeyDown}
    />
  );
}

function listShown({ options, views }: PaletteProps, typed: string): readonly Option[] {
  return listItems(typed, {
    screens: options,
    views,
    models: optionsOf("models"),
    keys: optionsOf("keys"),
    accounts: optionsOf("accounts"),
  });
}
