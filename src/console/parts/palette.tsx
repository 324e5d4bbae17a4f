import { useEffect, useId, useRef, useState } from "preact/hooks";
import { filterOptions, type Option } from "../state/filter-options.ts";
import { isRequestId } from "../state/filters.ts";
import { navigate } from "../state/location.ts";
import { text } from "../text/text.ts";

/** Something that the palette offers: its value is a path of the console. */
export interface PaletteProps {
  readonly options: readonly Option[];
}

/** A list of all screens in front of the page, filtered by typing: Ctrl+K or Cmd+K opens it. The id of a request leads to its page. */
export function Palette({ options }: PaletteProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return isOpen ? <OpenPalette options={options} onClose={() => setOpen(false)} /> : null;
}

function OpenPalette({ options, onClose }: PaletteProps & { onClose: () => void }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const shown = listShown(options, typed.trim());
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
            key={option.value}
            id={`${id}-${i}`}
            class="option"
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            onMouseMove={() => setAt(i)}
            onClick={() => choose(option)}
          >
            <span class="cut">{option.label}</span>
            {option.detail === undefined ? null : <span class="faint">{option.detail}</span>}
          </div>
        ))}
      </div>
      {shown.length === 0 ? <p class="palette-none quiet">{text.palette.none}</p> : null}
    </dialog>
  );
}

function listShown(options: readonly Option[], typed: string): readonly Option[] {
  if (!isRequestId(typed)) return filterOptions(options, typed);
  return [{ value: `/console/requests/${typed}`, label: typed, detail: text.request.title }];
}
