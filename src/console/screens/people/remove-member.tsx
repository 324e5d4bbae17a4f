import { call } from "../../api/client.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";

/** Removes a member after a question. */
export function RemoveMember(props: {
  organization: string;
  member: { readonly user_id: string; readonly user_name: string | null };
  onClose: () => void;
  onDone: () => void;
}) {
  const { organization: id, member } = props;
  const name = member.user_name ?? member.user_id;
  const form = useForm({
    draft: `remove ${id} ${member.user_id}`,
    initial: {},
    fields: [],
    send: () =>
      call("DELETE /api/admin/organizations/{id}/members/{user_id}", {
        params: { id, user_id: member.user_id },
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
      onConfirm={() => void form.submit()}
      onClose={props.onClose}
    >
      <FormError error={form.error} form={form} />
      <p>{text.people.removeAbout}</p>
    </Confirm>
  );
}
