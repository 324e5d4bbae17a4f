import type { ComponentChildren, Ref } from "preact";

/** A box with its own scrolling, such as that of a table. It can be reached with the keyboard. */
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
