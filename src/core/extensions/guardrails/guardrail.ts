import { matchPattern } from "../../../base/text/match-pattern.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { Match } from "./find-in-text.ts";
import type { StreamSearch } from "./search-stream.ts";
import type { TextHook } from "./text-hook.ts";

/** The actions for a request or answer that a guardrail matches. */
export const GUARDRAIL_ACTIONS = ["block", "mask", "warn"] as const;
export type GuardrailAction = (typeof GUARDRAIL_ACTIONS)[number];

/** The texts that a guardrail checks. */
export const CHECKED_TEXTS = ["request", "answer", "both"] as const;

/** A check of texts, as the operator configures it (docs/guardrails.md). */
export type Guardrail = SearchGuardrail | HookGuardrail;

interface GuardrailBase {
  readonly name: string;
  readonly on: (typeof CHECKED_TEXTS)[number];
  readonly scope: GuardrailScope;
}

/** A guardrail that searches texts. */
export interface SearchGuardrail extends GuardrailBase {
  readonly kind: "search";
  readonly action: GuardrailAction;
  /** Returns the matches in a text, in order and without overlaps. Awaits `pause` between parts of a long text. */
  readonly find: (text: string, pause: () => Promise<void>) => Promise<readonly Match[]>;
  /** Begins to search a text of an answer. Null: the guardrail does not check answers. */
  readonly beginSearch: (() => StreamSearch) | null;
}

/** A guardrail that calls a service of the operator. */
export interface HookGuardrail extends GuardrailBase {
  readonly kind: "hook";
  readonly hook: TextHook;
  /** The action for texts that the service could not check. */
  readonly onError: "allow" | "block";
  /** hold: a stream is held back until all of it is checked. observe: it is sent, and findings are only recorded. */
  readonly stream: "hold" | "observe";
}

/** The requests that a guardrail applies to. Patterns: `*` matches any characters. Null: all. */
interface GuardrailScope {
  /** Patterns of account ids. Requests without a key have no account and match none. */
  readonly accounts: readonly string[] | null;
  /** Patterns of key ids. */
  readonly keys: readonly string[] | null;
  /** Patterns of team ids. Requests with a key without a team match none. */
  readonly teams: readonly string[] | null;
  /** Patterns of ids of models or tiers: the requested one, and those that may answer. */
  readonly models: readonly string[] | null;
}

/** Returns whether a guardrail may change or reject what it checks. */
export function mayInterfere(guardrail: Guardrail): boolean {
  return guardrail.kind === "hook" || guardrail.action !== "warn";
}

/** Returns whether a guardrail applies to a request. `listModels` is called only if that depends on models. */
export function isInScope(
  { accounts, keys, teams, models }: GuardrailScope,
  principal: InferencePrincipal,
  listModels: () => readonly string[],
): boolean {
  const isAnonymous = principal.kind === "anonymous";
  if (accounts !== null && (isAnonymous || !matchesAny(accounts, principal.account.id))) return false;
  if (keys !== null && (isAnonymous || !matchesAny(keys, principal.key.id))) return false;
  if (
    teams !== null &&
    (isAnonymous || principal.key.teamId === null || !matchesAny(teams, principal.key.teamId))
  )
    return false;
  return models === null || listModels().some((model) => matchesAny(models, model));
}

function matchesAny(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchPattern(pattern, id));
}
