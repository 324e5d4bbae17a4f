/** The operator's override of a model of the catalog, as the configuration has it. Pure functions. */

import type { ConfigEdit, ConfigPath } from "../../parts/config/config-types.ts";
import type { Prices } from "../../parts/config/typed-prices.ts";

/** What an override says about one provider's service of a model. */
export type EndpointOverride = Readonly<Record<string, unknown>> & {
  readonly hidden?: boolean;
  readonly prices?: Prices | null;
};

/** An override of a model. Settings that have no field are kept. */
export type ModelOverride = Readonly<Record<string, unknown>> & {
  readonly hidden?: boolean;
  readonly endpoints?: Readonly<Record<string, EndpointOverride>>;
};

/** Returns the path of a model's override. */
export function overridePath(id: string): ConfigPath {
  return ["catalog", "overrides", id];
}

/** Returns an override that hides the model, or does not. */
export function withHidden(override: ModelOverride, isHidden: boolean): ModelOverride {
  const { hidden: _, ...others } = override;
  return isHidden ? { ...others, hidden: true } : others;
}

/** Returns an override with other settings of an endpoint. Undefined removes a setting. */
export function withEndpoint(
  override: ModelOverride,
  provider: string,
  changes: Readonly<Record<string, unknown>>,
): ModelOverride {
  const { endpoints = {}, ...others } = override;
  const changed = dropUndefined({ ...endpoints[provider], ...changes });
  const { [provider]: _, ...rest } = endpoints;
  const left = Object.keys(changed).length === 0 ? rest : { ...rest, [provider]: changed };
  return Object.keys(left).length === 0 ? others : { ...others, endpoints: left };
}

function dropUndefined(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Returns the edit that stores an override. One that says nothing is removed. */
export function toEdit(id: string, override: ModelOverride): ConfigEdit {
  const path = overridePath(id);
  return Object.keys(override).length === 0 ? { path, remove: true } : { path, value: override };
}
