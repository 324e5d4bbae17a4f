import type { z } from "zod";
import type { definitionSchema } from "./route-schema.ts";

/** The definition of a named route. */
export type RouteDefinition = Readonly<z.infer<typeof definitionSchema>>;

export type PresetDefinition = Extract<RouteDefinition, { kind: "preset" }>;
export type GroupDefinition = Extract<RouteDefinition, { kind: "group" }>;

/** A name that clients may send as `model`, and its definition. */
export interface NamedRoute {
  /** In lower case. */
  readonly name: string;
  /** The account whose requests it is for; null for all requests. */
  readonly accountId: string | null;
  readonly definition: RouteDefinition;
  /** Counts the changes of a stored route from 1; null for a route of the configuration file. */
  readonly version: number | null;
  /** When this version was stored, in milliseconds since the epoch; null for a route of the configuration file. */
  readonly updatedAt: number | null;
}
