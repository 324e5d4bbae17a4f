import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { WeakPairs } from "../../../base/collections/weak-pairs.ts";
import { NO_PREFERENCES } from "../../../wire/conversation/preferences.ts";
import type { AccountPrincipal, InferencePrincipal } from "../../accounts/records/principal.ts";
import type { Policy } from "../../accounts/records/records.ts";
import type { Tariffs } from "../../catalog/prices/pricing-rules.ts";
import type { ByokKeys } from "../../provider-keys/byok-keys.ts";
import { boundByBytes } from "../../routing/plan/prompt-tokens.ts";
import { windowOf } from "../../routing/plan/window.ts";
import type { GenerationCall, Serving } from "../call/call.ts";
import type { Consideration } from "./admission.ts";

/** What an admission follows from, besides the principal and the request. An admission is valid while all of them are the same objects. */
export interface AdmissionBasis {
  readonly serving: Serving;
  readonly policy: Policy;
  /** What the account pays; null for list prices. */
  readonly tariffs: Tariffs | null;
  /** The account's BYOK keys; null if it has none. */
  readonly byokKeys: ByokKeys | null;
}

/** The part of a call on which a remembered admission depends. */
interface PlainCall {
  readonly principal: InferencePrincipal;
  readonly preset?: GenerationCall["preset"];
  readonly request: Pick<
    GenerationCall["request"],
    "action" | "model" | "fallbackModels" | "preferences" | "mayHaveMedia" | "windowTextBytes"
  >;
}

/** An admission of plain requests. */
interface KnownAdmission {
  readonly considered: Consideration;
  readonly action: GenerationCall["request"]["action"];
  /** The smallest context window of its deployments. Tokens. */
  readonly window: number;
}

interface KnownOfPrincipal extends Omit<AdmissionBasis, "serving"> {
  /** By the id of the model. */
  readonly byModel: BoundedMap<string, KnownAdmission>;
}

/** The models for which the admissions of a principal are remembered. */
const MAX_MODELS = 16;

/** By the models that are served, so that former ones are not kept for principals that send no requests. */
const known = new WeakPairs<Serving, AccountPrincipal, KnownOfPrincipal>();

/** Returns the admission of an equal request of the principal; null if none is remembered that is certainly the same. */
export function recallAdmission(call: PlainCall, basis: AdmissionBasis): Consideration | null {
  const { principal, request } = call;
  if (principal.kind === "anonymous" || !isPlain(call)) return null;
  const ofPrincipal = known.get(basis.serving, principal);
  if (ofPrincipal === undefined || !isSame(ofPrincipal, basis)) return null;
  const found = ofPrincipal.byModel.get(request.model);
  return found?.action === request.action && fits(request, found.window) ? found.considered : null;
}

/**
 * Remembers an admission, if it depends on nothing of the request but its action and the id of its model, spelled as in the catalog. What
 * is remembered has the catalog's text, because the client's may keep its body in memory.
 */
export function rememberAdmission(call: PlainCall, basis: AdmissionBasis, considered: Consideration): void {
  const { principal, request } = call;
  if (principal.kind === "anonymous" || !isPlain(call) || considered.rejection !== null) return;
  const { requestedId } = considered;
  if (considered.isNamed || request.model !== requestedId) return;
  const all = [
    ...considered.deployments.flat(),
    ...considered.filteredOut.map(({ deployment }) => deployment),
  ];
  const window = Math.min(...all.map(({ endpoint }) => windowOf(endpoint)));
  // Where an endpoint lacks a feature, it depends on the needs of a request.
  if (!fits(request, window) || all.some(({ endpoint }) => endpoint.lacks !== undefined)) return;
  let ofPrincipal = known.get(basis.serving, principal);
  if (ofPrincipal === undefined || !isSame(ofPrincipal, basis)) {
    const { policy, tariffs, byokKeys } = basis;
    ofPrincipal = { policy, tariffs, byokKeys, byModel: new BoundedMap({ max: MAX_MODELS }) };
    known.set(basis.serving, principal, ofPrincipal);
  }
  const found = { considered: { ...considered, firstId: requestedId }, action: request.action, window };
  ofPrincipal.byModel.set(requestedId, found);
}

/** Whether a request says nothing about its route but its model. */
function isPlain({ preset = null, request }: PlainCall): boolean {
  const { preferences, fallbackModels, mayHaveMedia } = request;
  return preset === null && preferences === NO_PREFERENCES && fallbackModels.length === 0 && !mayHaveMedia;
}

/** Whether a prompt certainly fits a context window. */
function fits({ windowTextBytes }: PlainCall["request"], window: number): boolean {
  return boundByBytes(windowTextBytes) <= window;
}

function isSame(one: KnownOfPrincipal, { policy, tariffs, byokKeys }: AdmissionBasis): boolean {
  return one.policy === policy && one.tariffs === tariffs && one.byokKeys === byokKeys;
}
