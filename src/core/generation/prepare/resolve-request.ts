import type { Random } from "../../../base/secrets/random.ts";
import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { TierRecord } from "../../catalog/tiers/tier-records.ts";
import type { NamedRoutes } from "../../named-routes/named-routes.ts";
import {
  type DrawKeys,
  isPlainName,
  type ResolvedName,
  resolveName,
} from "../../named-routes/resolve-names.ts";
import { freeSessionKeyOf, type SessionRequest, sessionKeyOf } from "../../routing/affinity/session-key.ts";
import type { RouteStep } from "../../usage/records/route-step.ts";
import type { AppliedPreset, Serving } from "../call/call.ts";

/** The models and tiers that a request names, after named routes were followed. */
export interface RequestedModels {
  /** In order of preference: those of the requested name, then those of its fallbacks. At least one. */
  readonly names: readonly RequestedName[];
  /** The requested name in lower case, if it is a named route or has a suffix; null if it is the id of a model or tier. */
  readonly name: string | null;
}

/** A model or tier, and the field of the request that led to it. */
export interface RequestedName extends ResolvedName {
  readonly field: string;
  /** Null if it names a model. */
  readonly tier: TierRecord | null;
}

/** The parts of a call that decide its models. */
export interface NamingCall {
  readonly principal: InferencePrincipal;
  readonly preset?: AppliedPreset | null;
  readonly request: SessionRequest & Pick<InferenceRequest, "model" | "fallbackModels">;
}

/** Bytes of the random key of a weighted draw. */
const DRAW_BYTES = 12;

const NO_STEPS: readonly RouteStep[] = [];

/** The resources to resolve the names of a request. */
interface Names {
  readonly serving: Serving;
  /** The named routes of the caller's account; null if it has none. */
  readonly own: NamedRoutes | null;
  readonly random: Random;
}

/** Returns whether a request names only models and tiers, and no named route. */
export function isPlain(
  { request: { model, fallbackModels }, preset = null }: NamingCall,
  serving: Serving,
): boolean {
  return (
    preset === null &&
    isPlainName(model, serving) &&
    (fallbackModels.length === 0 || fallbackModels.every((name) => isPlainName(name, serving)))
  );
}

/** Returns the models and tiers of a request that is plain. */
export function listPlain(
  { model, fallbackModels }: NamingCall["request"],
  { tiers }: Serving,
): RequestedModels {
  const names: RequestedName[] = [];
  for (const id of fallbackModels.length === 0 ? [model] : [model, ...fallbackModels]) {
    const tier = tiers.find(id) ?? null;
    const field = fieldOf(names.length);
    names.push({
      id,
      steps: NO_STEPS,
      provider: null,
      sort: null,
      isOptional: false,
      shadow: null,
      field,
      tier,
    });
  }
  return { names, name: null };
}

/**
 * Resolves the names that a request has in `model` and `models`.
 * @throws GatewayError `invalid_model` as `resolveName`.
 */
export function resolveRequest(call: NamingCall, { serving, own, random }: Names): RequestedModels {
  const { principal, request, preset = null } = call;
  const { model, fallbackModels } = request;
  const draw: DrawKeys = {
    session: () => sessionKeyOf(request, principal) ?? freeSessionKeyOf(request, principal),
    request: () => Buffer.from(random.bytes(DRAW_BYTES)).toString("base64url"),
  };
  const names = [model, ...fallbackModels].flatMap((name, at) =>
    resolveName(name, { sources: serving, own, draw }).map((resolved) => ({
      ...resolved,
      field: fieldOf(at),
      tier: resolved.provider === null ? (serving.tiers.find(resolved.id) ?? null) : null,
    })),
  );
  const [first] = names;
  const isNamed = first !== undefined && (first.steps.length > 0 || first.sort !== null);
  const name = isNamed ? model.toLowerCase() : null;
  return preset === null ? { names, name } : withPreset({ names, name }, preset);
}

/** Returns the names with the preset as their first step. */
function withPreset({ names, name }: RequestedModels, { step, requested }: AppliedPreset): RequestedModels {
  return {
    names: names.map((one) => ({ ...one, steps: [step, ...one.steps] })),
    name: requested ?? name,
  };
}

/** Returns the field of a requested name: of the model, then of its fallbacks. */
function fieldOf(at: number): string {
  return at === 0 ? "model" : `models[${at - 1}]`;
}
