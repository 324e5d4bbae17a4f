/** The kinds of named routes. */
export const ROUTE_KINDS = ["alias"] as const;
export type RouteKind = (typeof ROUTE_KINDS)[number];

/** One step from a name that a client sent to the models that answer. */
export interface RouteStep {
  /** The name of the named route. */
  readonly name: string;
  readonly kind: RouteKind;
  /** Null for a route of the configuration file. */
  readonly version: number | null;
  /** Whether the route belongs to the operator (`gateway`) or to the account of the caller. */
  readonly scope: "gateway" | "account";
  /** The name or id that it led to. */
  readonly to: string;
}

/** Presents a step in the API. */
export function presentStep({ name, kind, version, scope, to }: RouteStep) {
  return { name, kind, version, scope, to };
}
