import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import type { IconName } from "../values/icon.tsx";

/** A button that opens a small panel under itself. Escape and a click elsewhere close it. */
export function Popover(props: {
  label: string;
  icon: IconName;
  text?: string;
  children: ComponentChildren;
}) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const place = (event: Event) => {
    const button = document.querySelector(`[popovertarget="${id}"]`);
    if ((event as ToggleEvent).newState !== "open" || !button || !panel.current) return;
    const box = button.getBoundingClientRect();
    const { style, offsetWidth } = panel.current;
    style.top = `${box.bottom + 4}px`;
    style.left = `${Math.max(8, Math.min(box.right - offsetWidth, window.innerWidth - offsetWidth - 8))}px`;
  };
  return (
    <>
      <Button icon={props.icon} label={props.label} popover={id}>
        {props.text}
      </Button>
      <section
        id={id}
        ref={panel}
        popover="auto"
        class="menu placed"
        aria-label={props.label}
        onToggle={place}
      >
        {props.children}
      </section>
    </>
  );
}
