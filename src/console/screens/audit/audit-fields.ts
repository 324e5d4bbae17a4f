import type { FilterField } from "../../parts/filters/filter-fields.ts";
import { namedField } from "../../parts/filters/named-field.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { ACTIONS, type AuditKind } from "./audit-kinds.ts";

const words = text.audit;

/** Users, keys, and what is neither. */
const ACTOR: FilterField = {
  id: "actor",
  label: words.filters.actor,
  parameters: { is: "actor" },
  options: () => [
    { value: "command", label: words.command },
    { value: "key_operator", label: words.operator },
    ...optionsOf("users").map((user) => ({ ...user, detail: words.user })),
    ...optionsOf("keys"),
  ],
  load() {
    loadOptions("users");
    loadOptions("keys");
  },
};

const KIND: FilterField = {
  id: "kind",
  label: words.filters.kind,
  parameters: { is: "kind" },
  options: () =>
    Object.keys(ACTIONS).map((kind) => ({ value: kind, label: words.kinds[kind as AuditKind][0] })),
  isClosed: true,
};

const TARGET: FilterField = {
  id: "target",
  label: words.filters.target,
  parameters: { is: "target" },
  options: () => [...optionsOf("keys"), ...optionsOf("accounts"), ...optionsOf("users")],
  load: () => loadOptions("keys"),
  hint: words.targetHint,
};

const ACCOUNT = namedField("account_id", words.filters.account, "accounts");

/** Returns the fields that the signed-in person can filter changes by. */
export function listAuditFields(): readonly FilterField[] {
  return [ACTOR, KIND, TARGET, ...(isOperator.value ? [ACCOUNT] : [])];
}
