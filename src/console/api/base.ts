import { options, type VNode } from "preact";

/**
 * The path before `/console` and `/api` in the addresses that the browser sees, such as `/gateway` behind a reverse proxy; mostly empty. The
 * rest of the console does not know it.
 */
const BASE = globalThis.document?.documentElement?.dataset?.["base"] ?? "";

/** Returns the address at which the browser reaches a path of the gateway. */
export function atBase(path: string): string {
  return BASE + path;
}

/** Returns an address that the browser shows without the base. */
export function withoutBase(address: string): string {
  return address.startsWith(`${BASE}/`) ? address.slice(BASE.length) : address;
}

/** Makes all links of the console lead to where the browser reaches them. */
export function baseLinks(): void {
  if (BASE === "") return;
  const { vnode: before } = options;
  options.vnode = (vnode) => {
    if (vnode.type === "a") baseLink(vnode as VNode<{ href?: unknown }>);
    before?.(vnode);
  };
}

function baseLink({ props }: VNode<{ href?: unknown }>): void {
  const { href } = props;
  if (typeof href === "string" && href.startsWith("/")) props.href = atBase(href);
}
