import { call } from "../../api/client.ts";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Check } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { useLoad } from "../../state/load.ts";
import { loadPages } from "../../state/names.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import type { TeamDetails } from "./team-types.ts";

const words = text.teams;

interface Values {
  readonly user: string | null;
  readonly isLead: boolean;
}

/** Adds a member of the organization to a team, chosen by name. */
export function AddTeamMember(props: { team: TeamDetails; onClose: () => void; onDone: () => void }) {
  const { team, onClose, onDone } = props;
  const { id: team_id, organization_id: id } = team;
  const candidates = useCandidates(team);
  const options = candidates.data ?? [];
  const form = useForm<Values, unknown>({
    draft: `member of ${team_id}`,
    initial: { user: null, isLead: false },
    fields: ["user_id"],
    send: ({ user, isLead }) =>
      call("PUT /api/admin/organizations/{id}/teams/{team_id}/members/{user_id}", {
        params: { id, team_id, user_id: user ?? "" },
        body: isLead ? { is_lead: true } : {},
      }),
    onSent() {
      const added = options.find(({ value }) => value === form.values.user);
      showToast(words.added(added?.label ?? form.values.user ?? ""));
      onDone();
    },
  });
  return (
    <Dialog
      title={words.addMember}
      onClose={onClose}
      onSubmit={() => void form.submit()}
      foot={
        <DialogButtons
          submit={words.add}
          onClose={onClose}
          isBusy={form.isBusy}
          isDisabled={form.values.user === null}
        />
      }
    >
      <FormError error={form.error} form={form} />
      {candidates.error === null ? null : <ErrorBox error={candidates.error} onRetry={candidates.reload} />}
      <Combobox
        label={words.candidate}
        hint={candidates.data?.length === 0 ? words.noCandidates : undefined}
        error={form.errorOf("user_id")}
        value={form.values.user}
        options={options}
        onChange={(user) => form.set({ user })}
        hasFocus
      />
      {can("manage_people") ? (
        <Check
          label={words.isLead}
          hint={words.isLeadAbout}
          isChecked={form.values.isLead}
          onChange={(isLead) => form.set({ isLead })}
        />
      ) : null}
    </Dialog>
  );
}

/** Loads the members of the organization who are not in a team, as options. */
function useCandidates({ id: team_id, organization_id: id }: TeamDetails) {
  return useLoad(team_id, async (signal) => {
    const found = await loadPages((query) =>
      call("GET /api/admin/organizations/{id}/teams/{team_id}/candidates", {
        params: { id, team_id },
        query,
        signal,
      }),
    );
    return found.map(({ user_id, user_name }) => ({
      value: user_id,
      label: user_name ?? user_id,
      detail: user_id.slice(-6),
    }));
  });
}
