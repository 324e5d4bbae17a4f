import type { Rejection } from "../../api/schema.ts";
import type { Session } from "../../state/session.ts";
import { text } from "../../text/text.ts";

/** A page of the console that helps with a rejected request. */
export interface Action {
  readonly label: string;
  readonly href: string;
}

const words = text.rejection.actions;

type Viewer = Pick<Session, "role" | "rights">;

/** Lists the pages where something can be done about a rejected request, as far as the person may see them. */
export function listActions(rejection: Rejection, { role, rights }: Viewer): readonly Action[] {
  const isReader = rights.includes("read");
  const list = ACTIONS[rejection.error_type]?.(rejection) ?? [];
  return list.filter(
    ({ needs }) => needs === "all" || role === "operator" || (needs === "reader" && isReader),
  );
}

interface GuardedAction extends Action {
  /** Who sees the page: everyone, everyone but members, or the operator. */
  readonly needs: "all" | "reader" | "operator";
}

type ListActions = (rejection: Rejection) => readonly GuardedAction[];

const keys: GuardedAction = { label: words.keys, href: "/console/keys", needs: "all" };
const createKey: GuardedAction = { label: words.createKey, href: "/console/keys", needs: "all" };
const endedKeys: GuardedAction = { label: words.endedKeys, href: "/console/keys?ended=1", needs: "all" };
const budgets: GuardedAction = { label: words.budgets, href: "/console/budgets", needs: "reader" };
const health: GuardedAction = { label: words.health, href: "/console/health", needs: "operator" };
const routes: GuardedAction = { label: words.routes, href: "/console/routing", needs: "operator" };
const baseUrl: GuardedAction = { label: words.baseUrl, href: "/console/welcome", needs: "all" };
const reference: GuardedAction = { label: words.reference, href: "/docs", needs: "all" };

const guardrails: GuardedAction = { label: words.guardrails, href: "/console/guardrails", needs: "operator" };

function setting(name: string): GuardedAction {
  return { label: words.settings, href: `/console/settings?q=${name}`, needs: "operator" };
}

function accountOf({ account_id }: Rejection): readonly GuardedAction[] {
  return account_id === null
    ? []
    : [{ label: words.account, href: `/console/people/${account_id}`, needs: "reader" }];
}

function searchModels({ requested_model }: Rejection): readonly GuardedAction[] {
  // The name of a model without its author and version finds more.
  const name = requested_model?.split("/").at(-1)?.split(/[:@]/)[0] ?? "";
  return [{ label: words.models, href: `/console/models?${new URLSearchParams({ q: name })}`, needs: "all" }];
}

/** The pages for each error code. */
const ACTIONS: Readonly<Record<string, ListActions>> = {
  invalid_request: () => [reference],
  invalid_model: (rejection) => [...searchModels(rejection), routes],
  context_length_exceeded: searchModels,
  authentication: ({ key_id }) => (key_id === null ? [createKey] : [createKey, endedKeys]),
  insufficient_credits: listMoneyActions,
  model_not_allowed: (rejection) => [...accountOf(rejection), keys],
  permission_denied: (rejection) => [createKey, ...accountOf(rejection)],
  content_blocked: () => [guardrails],
  not_found: () => [baseUrl, reference],
  method_not_allowed: () => [baseUrl, reference],
  payload_too_large: () => [setting("limits.body_bytes")],
  rate_limit_exceeded: listLimitActions,
  upstream_error: () => [health],
  unavailable: () => [health],
};

function listMoneyActions(rejection: Rejection): readonly GuardedAction[] {
  const { limit_source, account_id } = rejection;
  if (limit_source === "budget") return [budgets];
  if (limit_source === "key") return [keys];
  if (limit_source === "member" || limit_source === "organization") return accountOf(rejection);
  return account_id === null
    ? []
    : [{ label: words.credits, href: `/console/credits/${account_id}`, needs: "reader" }];
}

function listLimitActions(rejection: Rejection): readonly GuardedAction[] {
  const { limit_source, limit_kind } = rejection;
  if (limit_source === "anonymous") return [createKey, setting("limits.anonymous_requests_per_hour")];
  if (limit_kind === "body_bytes") return [setting("limits.total_body_bytes")];
  if (limit_source === "key") return [keys, ...accountOf(rejection)];
  if (limit_source === "account") return accountOf(rejection);
  return [setting("limits")];
}
