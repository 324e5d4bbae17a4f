import { type ComponentChildren, Fragment } from "preact";

/** A page above another one. */
export interface Crumb {
  readonly title: ComponentChildren;
  readonly address: string;
}

/**
 * The heading of a page below a list: a link to the list, the title, and what belongs to it. Several links lead from the top to the page.
 * Without `list` for those who may see only their own page. `hint` has the whole text of a title that may be cut.
 */
export function Crumbs(props: {
  list?: Crumb | readonly Crumb[] | undefined;
  title: ComponentChildren;
  hint?: string | undefined;
  children?: ComponentChildren;
}) {
  const { list = [], title, hint, children } = props;
  return (
    <div class="crumbs">
      {[list].flat().map((above) => (
        <Fragment key={above.address}>
          <a href={above.address}>{above.title}</a>
          <span class="faint">/</span>
        </Fragment>
      ))}
      <h1 class="cut" title={hint}>
        {title}
      </h1>
      {children}
    </div>
  );
}
