/** What a list of keys is filtered and ordered by. The parameters of the address are those of the API. */
import type { FilterField } from "../../parts/filters/filter-fields.ts";
import { namedField } from "../../parts/filters/named-field.ts";
import { query } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { seesTeams, seesUsers } from "../requests/filter-fields.ts";

const words = text.keys;

/** Whose keys a list has: of an account (null: all that the person may see), a user in it, or a team. */
export interface KeysOf {
  readonly account: string | null;
  readonly user?: string | undefined;
  readonly team?: string | undefined;
}

/** The choices of the filter for keys that are not in use. */
export const UNUSED = ["", "never", "7d", "30d", "90d"] as const;
export const ORDERS = ["newest", "oldest_secret", "least_used"] as const;

/** The parameters of the address that a list of keys or another searched list has, to be removed where another tab takes its place. */
export const LIST_PARAMETERS = [
  ...["account_id", "user_id", "team_id", "older_than", "unused", "ended", "order"],
  ...["status", "background", "key_id", "conversation_id"],
  ...["q", "sort"],
];

const AGE: FilterField = {
  id: "older_than",
  label: words.filters.older_than,
  parameters: { is: "older_than" },
  options: () => Object.entries(words.ages).map(([value, label]) => ({ value, label })),
  isClosed: true,
};

/** Returns the fields that a list can be filtered by: not by what all of its keys have in common. */
export function listKeyFields({ account, user, team }: KeysOf): readonly FilterField[] {
  return [
    ...(isOperator.value && account === null
      ? [namedField("account_id", words.filters.account_id, "accounts")]
      : []),
    ...(user === undefined && seesUsers() ? [namedField("user_id", words.filters.user_id, "users")] : []),
    ...(team === undefined && seesTeams() ? [namedField("team_id", words.filters.team_id, "teams")] : []),
    AGE,
  ];
}

/** Returns the parameters of the API for a list, from those of the address. */
export function toKeyQuery({ account, user, team }: KeysOf) {
  const { account_id, user_id, team_id, older_than, unused, order } = query.value;
  return {
    account_id: account ?? account_id,
    user_id: user ?? user_id,
    team_id: team ?? team_id,
    older_than,
    unused: UNUSED.find((one) => one === unused) || undefined,
    order: ORDERS.find((one) => one === order),
  };
}
