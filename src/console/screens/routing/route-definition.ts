/** Changes of the definition of a named route, as its form makes them. Pure functions. */
import type { NamedRoute } from "../../api/schema.ts";

export type RouteDefinition = NamedRoute["definition"];
export type AliasDefinition = Extract<RouteDefinition, { kind: "alias" }>;
export type GroupDefinition = Extract<RouteDefinition, { kind: "group" }>;
export type PresetDefinition = Extract<RouteDefinition, { kind: "preset" }>;
export type GroupTarget = GroupDefinition["targets"][number];

/** Returns the share of the requests that each target gets first, from 0 to 1. */
export function sharesOf(targets: readonly GroupTarget[]): readonly number[] {
  const weights = targets.map(({ weight }) => (Number.isFinite(weight) && weight > 0 ? weight : 0));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => (sum === 0 ? 0 : weight / sum));
}

/** Returns targets with one of them changed. */
export function changeTarget(
  targets: readonly GroupTarget[],
  index: number,
  change: Partial<GroupTarget>,
): GroupTarget[] {
  return targets.map((target, i) => (i === index ? withoutUndefined({ ...target, ...change }) : target));
}

/** Returns targets with one of them in the place before. The order is that of the attempts after a failure. */
export function moveTargetUp(targets: readonly GroupTarget[], index: number): GroupTarget[] {
  const [moved, before] = [targets[index], targets[index - 1]];
  if (moved === undefined || before === undefined) return [...targets];
  return targets.map((target, i) => (i === index - 1 ? moved : i === index ? before : target));
}

/** Returns an object without the members that are undefined. */
export function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}
