import { call } from "../../api/client.ts";
import type { Member } from "../../api/schema.ts";
import { Forced } from "../../parts/forms/forced.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { useValidKeys } from "../keys/valid-keys.ts";

/** Removes a member after a question. What a rule of OpenID Connect has given ends only if that is asked for. */
export function RemoveMember(props: {
  organization: string;
  member: Pick<Member, "user_id" | "source"> & { readonly user_name: string | null };
  onClose: () => void;
  onDone: () => void;
}) {
  const { organization: id, member } = props;
  const name = member.user_name ?? member.user_id;
  const isRuled = member.source === "oidc";
  const keys = useValidKeys({ account_id: id, user_id: member.user_id });
  const form = useForm({
    draft: `remove ${id} ${member.user_id}`,
    initial: { isForced: false },
    fields: [],
    send: ({ isForced }) =>
      call("DELETE /api/admin/organizations/{id}/members/{user_id}", {
        params: { id, user_id: member.user_id },
        query: isForced ? { force: true } : {},
      }),
    onSent() {
      showToast(text.people.removed(name));
      props.onDone();
    },
  });
  return (
    <Confirm
      title={text.people.removeTitle(name)}
      action={text.people.remove}
      isBusy={form.isBusy}
      isDisabled={isRuled && !form.values.isForced}
      onConfirm={() => void form.submit()}
      onClose={props.onClose}
    >
      <FormError error={form.error} form={form} />
      {keys === null ? null : (
        <p>{keys.length === 0 ? text.people.removeNoKeys : text.people.removeKeys(keys.length)}</p>
      )}
      <p>{text.people.removeAbout}</p>
      {isRuled ? <Forced form={form} /> : null}
    </Confirm>
  );
}
