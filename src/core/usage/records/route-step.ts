/** The kinds of named routes. */
export const ROUTE_KINDS = ["alias", "group", "preset"] as const;
type RouteKind = (typeof ROUTE_KINDS)[number];

/** One step from the name that a client sent towards the models that answer. */
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
  /** The only provider that may answer; absent if any may, and in records. */
  readonly provider?: string;
  /** How a group chose; absent for other kinds, and in records. */
  readonly draw?: RouteDraw;
}

/** A draw of the targets of a group. */
interface RouteDraw {
  /** Whether all requests of a session have the same draw. */
  readonly by: "session" | "request";
  /** The targets in the order in which they are used. */
  readonly order: readonly { readonly model: string; readonly weight: number; readonly provider?: string }[];
}

/** Returns steps for a record, which has no room for draws. Its attempts name the providers. */
export function recordSteps(steps: readonly RouteStep[]): readonly RouteStep[] {
  return steps.map(({ name, kind, version, scope, to }) => ({ name, kind, version, scope, to }));
}

/** Presents a step in the API. */
export function presentStep({ name, kind, version, scope, to, provider, draw }: RouteStep) {
  return {
    name,
    kind,
    version,
    scope,
    to,
    ...(provider === undefined ? {} : { provider }),
    ...(draw === undefined ? {} : { draw }),
  };
}
