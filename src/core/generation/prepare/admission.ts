import type { Failure } from "../../../base/failures/errors.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { ShadowRoute } from "../../named-routes/resolve-names.ts";
import type { FilteredOut } from "../../routing/plan/select-deployments.ts";
import type { RouteStep } from "../../usage/records/route-step.ts";
import type { Serving } from "../call/call.ts";

/** A request that may run, and the deployments that may answer it. */
export interface Admission {
  /** The models and tiers that were served when the request was admitted. */
  readonly serving: Serving;
  /** The deployments that policy and preferences allow, by model: the requested one first, then its fallbacks. */
  readonly deployments: readonly (readonly Deployment[])[];
  /** Deployments that answer if the account's balance does not cover the others, by model; absent if there are none. */
  readonly reserve?: readonly (readonly Deployment[])[];
  /** Deployments that may not answer, and why. */
  readonly filteredOut: readonly FilteredOut[];
  /** The requested name if it is a named route or has a suffix; otherwise the catalog's id of the requested model or tier. */
  readonly requestedId: string;
  /** The named routes that led to the first model; empty if the request names a model or tier. */
  readonly namedRoutes: readonly RouteStep[];
  /** The first model or tier that named routes led to, as the route spells it. */
  readonly firstId: string;
  /** The requested model, or the first one that the tier or named route resolves to. The request counts for the limits of this model. */
  readonly modelId: string;
  /** The route that gets a copy of the request; null for none. */
  readonly shadow: ShadowRoute | null;
  /** Whether nothing of the request may be stored and no turn may be remembered. */
  readonly zeroRetention: boolean;
  /** Whether the gateway may mark prompts for caches. False if a policy or the request forbids it. */
  readonly marksCaches: boolean;
  /** For `gateway_metadata.warnings`. */
  readonly warnings: readonly Warning[];
}

/** A request that was admitted. */
export interface AdmittedRequest {
  /** The id of its generation. */
  readonly id: string;
  readonly admission: Admission;
  /** The time of the request, which limits, prices and the record share. Milliseconds since the epoch. */
  readonly requestedAt: number;
}

/** The admission that a request would get, and the reason if it would be rejected. */
export interface Consideration extends Admission {
  /** Null if a deployment may answer. */
  readonly rejection: Failure | null;
}
