import type { ComponentChildren, Ref } from "preact";

/** A box that scrolls on its own, such as that of a table. It is reachable with the keyboard. */
export function ScrollBox(props: {
  label: string;
  children: ComponentChildren;
  kind?: "card" | "fill";
  box?: Ref<HTMLElement>;
}) {
  return (
    <section
      ref={props.box}
      class={["table-box", props.kind].filter(Boolean).join(" ")}
      aria-label={props.label}
      tabIndex={0}
    >
      {props.children}
    </section>
  );
}
