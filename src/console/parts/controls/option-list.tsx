import { useEffect, useRef } from "preact/hooks";
import type { Option } from "../../state/filter-options.ts";

/** The options under a field. One option is marked. The field keeps the focus and refers to the marked option by `optionId`. */
export function OptionList(props: {
  id: string;
  label: string;
  class: string;
  options: readonly Option[];
  /** The index of the marked option. */
  at: number;
  onPoint?: (index: number) => void;
  onChoose: (option: Option) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  return (
    <div id={props.id} ref={list} class={props.class} role="listbox" aria-label={props.label}>
      {props.options.map((option, i) => (
        <div
          key={`${option.detail} ${option.value}`}
          id={optionId(props.id, i)}
          class="option"
          role="option"
          tabIndex={-1}
          aria-selected={i === props.at}
          onMouseMove={() => props.onPoint?.(i)}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => props.onChoose(option)}
        >
          <span class="cut">{option.label}</span>
          {option.detail === undefined ? null : <span class="quiet cut">{option.detail}</span>}
        </div>
      ))}
    </div>
  );
}

/** Returns the id of an option in the list with an id. */
export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/** Returns the index that an arrow key moves to; null for other keys. */
export function moveBy(key: string, at: number, count: number): number | null {
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  return step === 0 ? null : Math.max(0, Math.min(count - 1, at + step));
}
