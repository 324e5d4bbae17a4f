import type { ComponentChildren } from "preact";

/**
 * The heading of a page below a list: a link to the list, the title, and what belongs to it. Without `list` for those who may see only
 * their own page. `hint` has the whole text of a title that may be cut.
 */
export function Crumbs(props: {
  list?: { readonly title: string; readonly address: string } | undefined;
  title: ComponentChildren;
  hint?: string | undefined;
  children?: ComponentChildren;
}) {
  const { list, title, hint, children } = props;
  return (
    <div class="crumbs">
      {list === undefined ? null : (
        <>
          <a href={list.address}>{list.title}</a>
          <span class="faint">/</span>
        </>
      )}
      <h1 class="cut" title={hint}>
        {title}
      </h1>
      {children}
    </div>
  );
}
