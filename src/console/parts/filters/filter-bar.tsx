import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { useKeys } from "../controls/use-keys.ts";
import { Icon } from "../values/icon.tsx";
import { applyChip, type FilterChip, type FilterField, labelOf, listChips } from "./filter-fields.ts";
import { FilterMenu } from "./filter-menu.tsx";

const words = text.filters;

interface FilterBarProps {
  readonly fields: readonly FilterField[];
  /** The parameters of the address. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Called with the parameters to change; null removes one. */
  readonly onChange: (changes: Record<string, string | null>) => void;
  /** What stands before the filters, such as a search field and the range of time. */
  readonly children?: ComponentChildren;
}

/** What the menu is open for: the filter that is changed, null for a new one; and the element under which it stands. */
interface Editing {
  readonly chip: FilterChip | null;
  readonly anchor: HTMLElement;
}

/**
 * The filters of a list: a button that adds one, and a chip for each that is set. A chip is changed by pressing it. `f` opens the menu,
 * Delete removes the chip with the focus.
 */
export function FilterBar({ fields, values, onChange, children }: FilterBarProps) {
  const [editing, setEditing] = useState<Editing | null>(null);
  const bar = useRef<HTMLDivElement>(null);
  const chips = listChips(fields, values);
  const addButton = () => bar.current?.querySelector<HTMLElement>(".filter-add > button") ?? null;
  const add = () => {
    const anchor = addButton();
    if (anchor !== null) setEditing({ chip: null, anchor });
  };
  const remove = (removed: readonly FilterChip[]) => {
    onChange(Object.fromEntries(removed.map(({ parameter }) => [parameter, null])));
    addButton()?.focus();
  };
  useKeys({ f: add });
  return (
    <div ref={bar} class="filter-bar">
      {children}
      {chips.map((chip) => (
        <Chip
          key={chip.parameter}
          chip={chip}
          onEdit={(anchor) => setEditing({ chip, anchor })}
          onRemove={() => remove([chip])}
        />
      ))}
      <span class="filter-add">
        <Button icon="plus" label={words.addHint} onClick={add}>
          {words.filter}
        </Button>
      </span>
      {chips.length === 0 ? null : (
        <Button kind="bare" onClick={() => remove(chips)}>
          {words.clear}
        </Button>
      )}
      {editing === null ? null : (
        <FilterMenu
          {...editing}
          fields={fields}
          onChoose={({ field, ...chosen }) => onChange(applyChip(field, chosen, editing.chip))}
          onClose={() => setEditing(null)}
        />
      )}
    </div>
  );
}

interface ChipProps {
  readonly chip: FilterChip;
  readonly onEdit: (anchor: HTMLElement) => void;
  readonly onRemove: () => void;
}

function Chip({ chip: { field, operator, value }, onEdit, onRemove }: ChipProps) {
  // The name of a key in the address must be shown, not its id.
  useEffect(() => field.load?.(), [field.id]);
  const label = labelOf(field, value);
  return (
    <span class="filter-chip">
      <button
        type="button"
        class="filter-chip-text"
        title={words.change(field.label)}
        onClick={(event) => onEdit(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key === "Delete" || event.key === "Backspace") onRemove();
        }}
      >
        <span class="quiet nowrap">
          {field.label} {words.operators[operator]}
        </span>
        <span class="cut">{label}</span>
      </button>
      <button
        type="button"
        class="filter-chip-remove"
        aria-label={text.states.clear(field.label)}
        title={text.states.clear(field.label)}
        onClick={onRemove}
      >
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}
