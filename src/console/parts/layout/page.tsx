import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { text } from "../../text/text.ts";

/** The frame of a screen: its title, its actions, and its content. `fills` gives the content the height of the window. */
export function Page(props: {
  title: string;
  /** Shown in place of the title, if it is more than a text. */
  heading?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  fills?: boolean;
  isNarrow?: boolean;
}) {
  useEffect(() => {
    document.title = `${props.title} – ${text.app.name}`;
  }, [props.title]);
  return (
    <>
      <header class="page-head">
        {props.heading ?? <h1>{props.title}</h1>}
        {props.actions}
      </header>
      <div class={props.fills ? "page-fill" : props.isNarrow ? "page-body narrow" : "page-body"}>
        {props.children}
      </div>
    </>
  );
}
