import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { filterOptions, type Option } from "../../state/filter-options.ts";
import { text } from "../../text/text.ts";
import { moveBy, OptionList, optionId } from "../controls/option-list.tsx";
import { Segments } from "../controls/segments.tsx";
import {
  type FilterChip,
  type FilterField,
  listValues,
  type Operator,
  operatorsOf,
} from "./filter-fields.ts";

const words = text.filters;

/** What was chosen in the menu. */
export interface FilterChoice {
  readonly field: FilterField;
  readonly operator: Operator;
  readonly value: string;
}

interface MenuProps {
  readonly fields: readonly FilterField[];
  /** The filter that is changed; null for a new one. */
  readonly chip: FilterChip | null;
  /** The element under which the menu opens. */
  readonly anchor: HTMLElement;
  readonly onChoose: (choice: FilterChoice) => void;
  readonly onClose: () => void;
}

/** The space between the menu and the edges of the window. Pixels. */
const EDGE = 8;

/** Chooses a field, then a comparison and a value. Escape and a click elsewhere close it. */
export function FilterMenu({ fields, chip, anchor, onChoose, onClose }: MenuProps) {
  const panel = useRef<HTMLElement>(null);
  const [field, setField] = useState(chip?.field ?? null);
  useLayoutEffect(() => {
    const menu = panel.current;
    if (menu === null) return;
    menu.showPopover();
    const box = anchor.getBoundingClientRect();
    menu.style.top = `${Math.max(EDGE, Math.min(box.bottom + 4, innerHeight - menu.offsetHeight - EDGE))}px`;
    menu.style.left = `${Math.max(EDGE, Math.min(box.left, innerWidth - menu.offsetWidth - EDGE))}px`;
    menu.querySelector("input")?.focus();
  }, [anchor]);
  return (
    <section
      ref={panel}
      popover="auto"
      class="menu placed filter-menu"
      aria-label={chip === null ? words.add : words.change(chip.field.label)}
      onToggle={(event) => {
        if (event.newState === "closed") onClose();
      }}
    >
      {field === null ? (
        <FieldStep fields={fields} onChoose={setField} />
      ) : (
        <ValueStep
          field={field}
          chip={chip}
          onChoose={(choice) => {
            panel.current?.hidePopover();
            onChoose(choice);
          }}
          onBack={() => setField(null)}
        />
      )}
    </section>
  );
}

function FieldStep(props: { fields: readonly FilterField[]; onChoose: (field: FilterField) => void }) {
  const { fields, onChoose } = props;
  const options = fields.map(({ id, label }) => ({ value: id, label }));
  return (
    <Suggest
      label={words.field}
      list={(typed) => filterOptions(options, typed)}
      onChoose={(id) => {
        const field = fields.find((one) => one.id === id);
        if (field !== undefined) onChoose(field);
      }}
    />
  );
}

interface ValueStepProps extends Pick<MenuProps, "chip" | "onChoose"> {
  readonly field: FilterField;
  readonly onBack: () => void;
}

function ValueStep({ field, chip, onChoose, onBack }: ValueStepProps) {
  const operators = operatorsOf(field);
  const [operator, setOperator] = useState<Operator>(chip?.operator ?? operators[0] ?? "is");
  useEffect(() => field.load?.(), [field]);
  return (
    <>
      <div class="filter-menu-head">
        <span class="strong">{field.label}</span>
        {operators.length === 1 ? (
          <span class="quiet">{words.operators[operator]}</span>
        ) : (
          <Segments
            label={words.operator}
            value={operator}
            choices={operators.map((value) => ({ value, label: words.operators[value] }))}
            onChange={setOperator}
          />
        )}
      </div>
      <Suggest
        key={operator}
        label={`${field.label} ${words.operators[operator]}`}
        // A text is changed; of a list another value is chosen.
        preset={operator === "contains" ? (chip?.value ?? "") : ""}
        hint={field.hint}
        list={(typed) => listValues(field, operator, typed)}
        onChoose={(value) => onChoose({ field, operator, value })}
        onBack={onBack}
      />
    </>
  );
}

interface SuggestProps {
  readonly label: string;
  readonly preset?: string;
  readonly hint?: string | undefined;
  /** Returns the options for what is typed. */
  list(typed: string): readonly Option[];
  readonly onChoose: (value: string) => void;
  /** Called for Backspace in an empty field. */
  readonly onBack?: () => void;
}

/** A field with its suggestions below it: typing filters, arrows move, Enter chooses. */
function Suggest({ label, preset = "", hint, list, onChoose, onBack }: SuggestProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(preset);
  const [at, setAt] = useState(0);
  useLayoutEffect(() => input.current?.focus(), []);
  const shown = list(typed);
  const marked = shown[at];
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moveBy(event.key, at, shown.length);
    if (next !== null) setAt(next);
    else if (event.key === "Enter" && marked !== undefined) onChoose(marked.value);
    else if (event.key === "Backspace" && typed === "" && onBack !== undefined) onBack();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        ref={input}
        class="input"
        role="combobox"
        aria-label={label}
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={marked === undefined ? undefined : optionId(`${id}-list`, at)}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <OptionList
        id={`${id}-list`}
        class="filter-menu-list"
        label={label}
        options={shown}
        at={at}
        onPoint={setAt}
        onChoose={({ value }) => onChoose(value)}
      />
      {shown.length > 0 ? null : (
        <p class="field-hint filter-menu-hint">{hint ?? (typed === "" ? words.type : words.none)}</p>
      )}
    </>
  );
}
