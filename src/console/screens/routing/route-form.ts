/** Converts named routes to and from the texts of their form. Pure functions. */
import type { NamedRoute } from "../../api/schema.ts";
import { text } from "../../text/text.ts";

type RouteDefinition = NamedRoute["definition"];
export type RouteKind = RouteDefinition["kind"];

/** The definition of a named route that a request is tried with. */
export interface TriedRoute {
  readonly name: string;
  readonly account_id: string | null;
  readonly definition: RouteDefinition;
}

/** The texts of the form. */
export interface RouteDraft {
  /** Only the name of a new route can be edited. */
  readonly name: string;
  readonly json: string;
}

/** What a new route of each kind begins with. */
export const NEW_ROUTES: Readonly<Record<RouteKind, RouteDefinition>> = {
  alias: { kind: "alias", target: "gateway-auto/balanced" },
  group: {
    kind: "group",
    targets: [
      { model: "gateway-auto/balanced", weight: 90 },
      { model: "gateway-auto/small", weight: 10 },
    ],
    sticky: "session",
  },
  preset: {
    kind: "preset",
    model: "gateway-auto/balanced",
    system: "Be brief.",
    parameters: { temperature: 0.2 },
    provider: { sort: "throughput" },
  },
};

/** Returns what the form shows for a route. */
export function toRouteDraft(name: string, definition: RouteDefinition): RouteDraft {
  return { name, json: JSON.stringify(definition, null, 2) };
}

/** Returns the definition that a form describes, or why it cannot be read. */
export function readDefinition({
  json,
}: RouteDraft): { readonly definition: RouteDefinition } | { readonly problem: string } {
  try {
    const value = JSON.parse(json) as RouteDefinition | null;
    const isDefinition = typeof value === "object" && value !== null && typeof value.kind === "string";
    return isDefinition ? { definition: value } : { problem: text.routing.notRoute };
  } catch (error) {
    return { problem: text.routing.notJson((error as Error).message) };
  }
}

/** Returns why a draft cannot be explained yet; null if nothing is known to be missing. */
export function findMissingOfRoute(draft: RouteDraft): string | null {
  const read = readDefinition(draft);
  if ("problem" in read) return read.problem;
  if (draft.name.trim() === "") return text.routing.missingName;
  const isPreset = read.definition.kind === "preset";
  return draft.name.startsWith("@") === isPreset ? null : text.routing.presetName;
}

/** Returns whether the form can show a definition. One that was typed as JSON may lack any of its fields. */
export function fitsForm(definition: RouteDefinition): boolean {
  if (definition.kind === "alias") return ["string", "undefined"].includes(typeof definition.target);
  if (definition.kind !== "group") return definition.kind === "preset";
  const { targets } = definition as { readonly targets?: unknown };
  return Array.isArray(targets) && targets.every((target) => typeof target === "object" && target !== null);
}
