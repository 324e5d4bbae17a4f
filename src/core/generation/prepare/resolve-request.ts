import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import {
  type DrawKeys,
  isPlainName,
  type ResolvedName,
  resolveName,
} from "../../named-routes/resolve-names.ts";
import { freeSessionKeyOf, sessionKeyOf } from "../../routing/affinity/session-key.ts";
import type { RouteStep } from "../../usage/records/route-step.ts";
import type { AppliedPreset, GenerationDeps } from "../call/call.ts";

/** The models and tiers that a request names, after named routes were followed. */
export interface RequestedModels {
  /** In order of preference: of the requested name, then of its fallbacks. At least one. */
  readonly names: readonly RequestedName[];
  /** The requested name in lower case, if it is a named route or has a suffix; null if it is the id of a model or tier. */
  readonly name: string | null;
}

/** A model or tier, and the field of the request that led to it. */
export interface RequestedName extends ResolvedName {
  readonly field: string;
}

/** What the models of a request depend on. */
interface NamingCall {
  readonly principal: InferencePrincipal;
  readonly preset?: AppliedPreset | null;
  readonly request: Pick<
    InferenceRequest,
    "action" | "model" | "fallbackModels" | "session" | "user" | "hashPrefix"
  >;
}

/** The length of a random key of a draw. */
const DRAW_BYTES = 12;

const NO_STEPS: readonly RouteStep[] = [];

/**
 * Resolves the names that a request has in `model` and `models`. Loads the routes of its account if it names a route. Rejects with a
 * GatewayError `invalid_model` as `resolveName`.
 */
export async function resolveRequest(
  { serving, accounts: { accountRoutes }, random }: Pick<GenerationDeps, "serving" | "accounts" | "random">,
  { principal, request, preset = null }: NamingCall,
): Promise<RequestedModels> {
  const { model, fallbackModels } = request;
  const sources = serving();
  if (
    preset === null &&
    isPlainName(model, sources) &&
    fallbackModels.every((name) => isPlainName(name, sources))
  )
    return {
      names: [model, ...fallbackModels].map((id, at) => ({
        id,
        steps: NO_STEPS,
        sort: null,
        isOptional: false,
        shadow: null,
        field: fieldOf(at),
      })),
      name: null,
    };
  const draw: DrawKeys = {
    session: () => sessionKeyOf(request, principal) ?? freeSessionKeyOf(request, principal),
    request: () => Buffer.from(random.bytes(DRAW_BYTES)).toString("base64url"),
  };
  const own = principal.kind === "anonymous" ? null : await accountRoutes.of(principal.account.id);
  const names = [model, ...fallbackModels].flatMap((name, at) =>
    resolveName(name, { sources, own, draw }).map((resolved) => ({ ...resolved, field: fieldOf(at) })),
  );
  const [first] = names;
  const isNamed = first !== undefined && (first.steps.length > 0 || first.sort !== null);
  const name = isNamed ? model.toLowerCase() : null;
  return preset === null ? { names, name } : withPreset({ names, name }, preset);
}

/** Returns names that a preset led to. */
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
