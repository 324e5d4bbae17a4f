import type { ComponentChildren } from "preact";
import { Icon } from "../../parts/values/icon.tsx";
import { text } from "../../text/text.ts";

/** The title of a page below the list of models, after a link to the list. */
export function Crumbs({ children }: { children: ComponentChildren }) {
  return (
    <h1 class="crumbs model-crumbs">
      <a href="/console/models">{text.models.title}</a>
      <Icon name="right" size={12} />
      <span class="cut">{children}</span>
    </h1>
  );
}
