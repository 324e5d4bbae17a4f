import { call } from "../../api/client.ts";
import { Forced } from "../../parts/forms/forced.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { useValidKeys } from "../keys/valid-keys.ts";
import type { TeamMember } from "./team-types.ts";

const words = text.teams;
/** The maximum number of keys that are named. */
const MAX_NAMES = 5;

/** Removes a member from a team after a question that names the keys that end. */
export function RemoveTeamMember(props: { member: TeamMember; onClose: () => void; onDone: () => void }) {
  const { member, onClose, onDone } = props;
  const { organization_id: id, team_id, user_id } = member;
  const name = member.user_name ?? user_id;
  const isRuled = member.source === "oidc";
  const keys = useValidKeys({ account_id: id, user_id, team_id });
  const form = useForm({
    draft: `remove ${user_id} of ${team_id}`,
    initial: { isForced: false },
    fields: [],
    send: async ({ isForced }) =>
      (
        await call("DELETE /api/admin/organizations/{id}/teams/{team_id}/members/{user_id}", {
          params: { id, team_id, user_id },
          query: isForced ? { force: true } : {},
        })
      ).data,
    onSent({ revoked_keys }) {
      showToast(words.removed(name, revoked_keys));
      onDone();
    },
  });
  return (
    <Confirm
      title={words.removeTitle(name)}
      action={words.remove}
      isBusy={form.isBusy}
      isDisabled={isRuled && !form.values.isForced}
      onConfirm={() => void form.submit()}
      onClose={onClose}
    >
      <FormError error={form.error} form={form} />
      {keys === null ? null : <p>{describeKeys(keys.map((key) => key.name))}</p>}
      <p>{words.removeAbout}</p>
      {isRuled ? <Forced form={form} /> : null}
    </Confirm>
  );
}

function describeKeys(names: readonly string[]): string {
  if (names.length === 0) return words.removeNoKeys;
  const shown = names.slice(0, MAX_NAMES).join(", ");
  return words.removeKeys(names.length, names.length > MAX_NAMES ? `${shown}, …` : shown);
}
