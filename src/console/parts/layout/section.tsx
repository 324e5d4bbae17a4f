import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A section of a page that can be folded, with an anchor in the address: `#id`. */
export function Section(props: {
  id: string;
  title: string;
  /** A short summary of the section, which is shown even while it is folded. */
  summary?: ComponentChildren;
  isClosed?: boolean;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (window.location.hash !== `#${props.id}` || box.current === null) return;
    box.current.open = true;
    box.current.scrollIntoView();
  }, [props.id]);
  return (
    <details ref={box} id={props.id} class="section" open={!props.isClosed}>
      <summary>
        <h2>{props.title}</h2>
        <span class="section-summary">{props.summary}</span>
      </summary>
      <div class="section-body">{props.children}</div>
    </details>
  );
}

/** A figure with its name above it. */
export function Figure({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt class="figure-name">{name}</dt>
      <dd class="figure-value">{children}</dd>
    </div>
  );
}
