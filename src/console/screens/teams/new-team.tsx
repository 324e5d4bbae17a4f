import { call } from "../../api/client.ts";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { forgetTeams } from "../../state/accounts/teams.ts";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";

const words = text.teams;

/** Creates a team. Its policy and limits are set on its page. */
export function NewTeam(props: { organization: string; onClose: () => void; onMade: (id: string) => void }) {
  const { organization: id, onClose, onMade } = props;
  const form = useForm({
    draft: `new team ${id}`,
    initial: { name: "" },
    fields: ["name"],
    send: async (body) =>
      (await call("POST /api/admin/organizations/{id}/teams", { params: { id }, body })).data,
    onSent(team) {
      forgetTeams(id);
      showToast(words.created(team.name));
      onMade(team.id);
    },
  });
  return (
    <Dialog
      title={words.make}
      onClose={onClose}
      onSubmit={() => void form.submit()}
      foot={<DialogButtons submit={words.create} onClose={onClose} isBusy={form.isBusy} />}
    >
      <p class="quiet">{words.noneAbout}</p>
      <FormError error={form.error} form={form} />
      <Field
        label={words.name}
        hint={words.nameHint}
        error={form.errorOf("name")}
        value={form.values.name}
        onInput={(name) => form.set({ name })}
        isRequired
        hasFocus
      />
    </Dialog>
  );
}
