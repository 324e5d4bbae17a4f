import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

/** A tab and what it shows. */
export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly content: ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The chosen tab, for tabs whose choice is kept elsewhere, such as in the address. */
  readonly value?: string;
  readonly onChoose?: (id: string) => void;
}

/** Tabs with their panels (ARIA tabs). Only the panel of the chosen tab is shown; arrow keys move between the tabs. */
export function Tabs({ label, tabs, value, onChoose }: TabsProps) {
  const id = useId();
  const [own, setOwn] = useState(tabs[0]?.id ?? "");
  const chosen = value ?? own;
  const setChosen = (next: string) => {
    setOwn(next);
    onChoose?.(next);
  };
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    setChosen(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={label}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            class="tab"
            role="tab"
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => setChosen(tab.id)}
            onKeyDown={move}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} class="tab-panel" role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        {tabs.find((tab) => tab.id === chosen)?.content}
      </div>
    </div>
  );
}
