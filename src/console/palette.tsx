import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./parts/dialog.tsx";
import { useKeys } from "./parts/table.tsx";
import { SCREENS } from "./screens/registry.ts";
import { navigate } from "./state/location.ts";
import { loadOptions, optionsOf } from "./state/names.ts";
import { listItems } from "./state/palette-items.ts";
import type { Session } from "./state/session.ts";
import { paletteText } from "./text/palette.ts";

/** What is shown in front of the page. */
const shown = signal<"palette" | "help" | null>(null);
const LIST = "palette-list";

/** Opens the command palette. */
export function openPalette(): void {
  shown.value = "palette";
}

/** The command palette (Ctrl or Cmd and K) and the help for the keyboard (`?`). */
export function Palette({ session }: { session: Session }) {
  useKeys({
    "?": () => {
      shown.value = "help";
    },
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      shown.value = shown.value === "palette" ? null : "palette";
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  if (shown.value === "palette") return <PaletteDialog session={session} />;
  return shown.value === "help" ? <Help /> : null;
}

function close(): void {
  shown.value = null;
}

function PaletteDialog({ session }: { session: Session }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    dialog.current?.showModal();
    loadOptions("models");
    loadOptions("keys");
    if (session.role === "operator") loadOptions("accounts");
  }, [session]);
  const screens = SCREENS.filter(({ group, sees }) => group !== null && sees(session)).map(
    ({ path, title }) => ({ value: path, label: title, detail: paletteText.screen }),
  );
  const items = listItems(typed, {
    screens,
    models: optionsOf("models"),
    keys: optionsOf("keys"),
    accounts: optionsOf("accounts"),
  });
  const go = (to: string | undefined) => {
    if (to === undefined) return;
    close();
    navigate(to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt(Math.max(0, Math.min(items.length - 1, at + step)));
    else if (event.key === "Enter") go(items[at]?.value);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={paletteText.title}
      onClose={close}
      onMouseDown={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <input
        class="palette-input"
        role="combobox"
        aria-label={paletteText.placeholder}
        aria-expanded={items.length > 0}
        aria-controls={LIST}
        aria-autocomplete="list"
        aria-activedescendant={items.length > 0 ? `${LIST}-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={paletteText.placeholder}
        value={typed}
        onInput={(event) => {
          setAt(0);
          setTyped(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={LIST} class="palette-list" role="listbox" aria-label={paletteText.title}>
        {items.map(({ value, label, detail }, i) => (
          <div
            key={`${detail} ${value}`}
            id={`${LIST}-${i}`}
            class="option"
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            onMouseDown={(event) => {
              event.preventDefault();
              go(value);
            }}
          >
            <span class="cut">{label}</span>
            <span class="quiet cut">{detail}</span>
          </div>
        ))}
      </div>
      {items.length === 0 ? (
        <p class="card-body quiet" role="status">
          {paletteText.none}
        </p>
      ) : null}
    </dialog>
  );
}

function Help() {
  return (
    <Dialog title={paletteText.help} onClose={close}>
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
