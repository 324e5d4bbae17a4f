import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Option } from "../state/filter-options.ts";
import { navigate } from "../state/location.ts";
import { loadOptions, optionsOf } from "../state/names.ts";
import { listItems } from "../state/palette-items.ts";
import { isOperator } from "../state/session.ts";
import { paletteText } from "../text/palette.ts";
import { text } from "../text/text.ts";
import { Dialog } from "./dialog.tsx";
import { useKeys } from "./use-keys.ts";

/** Something that the palette offers: its value is a path of the console. */
export interface PaletteProps {
  readonly options: readonly Option[];
}

/**
 * A list of all screens in front of the page: Ctrl+K or Cmd+K opens it. Typing finds screens, models, keys and accounts by name; any id
 * leads to its page. `?` shows the help for the keyboard.
 */
export function Palette({ options }: PaletteProps) {
  const [isOpen, setOpen] = useState(false);
  const [hasHelp, setHelp] = useState(false);
  useKeys({ "?": () => setHelp(true) });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  if (isOpen) return <OpenPalette options={options} onClose={() => setOpen(false)} />;
  return hasHelp ? <KeyboardHelp onClose={() => setHelp(false)} /> : null;
}

function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={paletteText.help} onClose={onClose}>
      <dl class="facts">
        {paletteText.keys.map(([keys, about]) => [
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

function OpenPalette({ options, onClose }: PaletteProps & { onClose: () => void }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    dialog.current?.showModal();
    loadOptions("models");
    loadOptions("keys");
    if (isOperator.value) loadOptions("accounts");
  }, []);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const shown = listShown(options, typed);
  const choose = (option: Option | undefined) => {
    if (option === undefined) return;
    onClose();
    navigate(option.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt(Math.max(0, Math.min(shown.length - 1, at + step)));
    else if (event.key === "Enter") choose(shown[at]);
    else return;
    event.preventDefault();
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
      <input
        class="palette-input"
        role="combobox"
        aria-label={text.palette.title}
        aria-expanded={shown.length > 0}
        aria-controls={id}
        aria-activedescendant={shown.length > 0 ? `${id}-${at}` : undefined}
        placeholder={text.palette.placeholder}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} ref={list} class="palette-list" role="listbox" aria-label={text.palette.title}>
        {shown.map((option, i) => (
          <div
            key={`${option.detail} ${option.value}`}
            id={`${id}-${i}`}
            class="option"
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            onMouseMove={() => setAt(i)}
            onClick={() => choose(option)}
          >
            <span class="cut">{option.label}</span>
            {option.detail === undefined ? null : <span class="quiet">{option.detail}</span>}
          </div>
        ))}
      </div>
      {shown.length === 0 ? <p class="palette-none quiet">{text.palette.none}</p> : null}
    </dialog>
  );
}

function listShown(screens: readonly Option[], typed: string): readonly Option[] {
  return listItems(typed, {
    screens,
    models: optionsOf("models"),
    keys: optionsOf("keys"),
    accounts: optionsOf("accounts"),
  });
}
