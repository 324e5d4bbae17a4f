/** What a list of kept responses is filtered by. The parameters of the address are those of the API. */
import type { FilterField } from "../../parts/filters/filter-fields.ts";
import { namedField } from "../../parts/filters/named-field.ts";
import { query } from "../../state/location.ts";
import { isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { seesUsers } from "../requests/filter-fields.ts";
import type { Status } from "./status-badge.tsx";

const words = text.responses;

const STATUS = choiceField("status", words.statuses);
const BACKGROUND = choiceField("background", words.backgrounds);
const CONVERSATION: FilterField = {
  id: "conversation_id",
  label: words.filters.conversation_id,
  parameters: { is: "conversation_id" },
  hint: words.conversationHint,
};

function choiceField(id: "status" | "background", choices: Readonly<Record<string, string>>): FilterField {
  return {
    id,
    label: words.filters[id],
    parameters: { is: id },
    options: () => Object.entries(choices).map(([value, label]) => ({ value, label })),
    isClosed: true,
  };
}

/** Returns the fields that a list can be filtered by: by account only if it is not the list of one. */
export function listResponseFields(account: string | null): readonly FilterField[] {
  return [
    STATUS,
    BACKGROUND,
    ...(seesUsers() ? [namedField("user_id", words.filters.user_id, "users")] : []),
    namedField("key_id", words.filters.key_id, "keys"),
    CONVERSATION,
    ...(isOperator.value && account === null
      ? [namedField("account_id", words.filters.account_id, "accounts")]
      : []),
  ];
}

/** Returns the parameters of the API for a list, from those of the address. */
export function toResponseQuery(account: string | null) {
  const { account_id, user_id, key_id, conversation_id, status, background } = query.value;
  return {
    account_id: account ?? account_id ?? session.value?.account?.id,
    user_id,
    key_id,
    conversation_id,
    status: status !== undefined && status in words.statuses ? (status as Status) : undefined,
    background:
      background === "true" || background === "false" ? (background as "true" | "false") : undefined,
  };
}
