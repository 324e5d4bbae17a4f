import type { FilterField } from "../../parts/filters/filter-fields.ts";
import { namedField } from "../../parts/filters/named-field.ts";
import type { NameList } from "../../state/names.ts";
import { can, isOperator, leadsAny, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";

const words = text.requests;

const named = (id: keyof typeof words.filters, list: NameList) => namedField(id, words.filters[id], list);

const OUTCOME: FilterField = {
  id: "outcome",
  label: words.columns.outcome,
  parameters: { is: "outcome" },
  options: () => Object.entries(text.outcomes).map(([value, label]) => ({ value, label })),
  isClosed: true,
};

const MODEL: FilterField = {
  ...named("model", "models"),
  parameters: { is: "model", contains: "model_contains" },
};

const SESSION: FilterField = {
  id: "session_id",
  label: words.filters.session_id,
  parameters: { is: "session_id" },
  hint: words.sessionHint,
};

const VERSION: FilterField = {
  id: "client_version",
  label: words.filters.client_version,
  parameters: { is: "client_version" },
  hint: words.versionHint,
};

const ERROR = named("error_type", "errors");
const PROVIDER = named("provider", "providers");
const KEY = named("key_id", "keys");
const USER = named("user_id", "users");
const TEAM = named("team_id", "teams");
const ACCOUNT = named("account_id", "accounts");
const TAG = named("tag", "tags");
const CLIENT: FilterField = { ...named("client", "clients"), isClosed: true };

/** Returns the fields that the signed-in person can filter requests by. */
export function listFilterFields(): readonly FilterField[] {
  return [
    OUTCOME,
    MODEL,
    PROVIDER,
    KEY,
    ...(seesUsers() ? [USER] : []),
    ...(seesTeams() ? [TEAM] : []),
    ...(isOperator.value ? [ACCOUNT] : []),
    ERROR,
    TAG,
    CLIENT,
    VERSION,
    SESSION,
  ];
}

/** Whether the requests of several users can be seen: not by a member, and not in the account of one user. */
export function seesUsers(): boolean {
  return isOperator.value || (can("read") && session.value?.account?.kind === "organization");
}

/** Whether the requests of teams can be seen: by those who see several users, and by leads. */
export function seesTeams(): boolean {
  return seesUsers() || leadsAny();
}
