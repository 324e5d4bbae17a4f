import { call } from "../../api/client.ts";
import type { Invitation } from "../../api/schema.ts";
import { Check, Field, Select } from "../../parts/controls/field.tsx";
import { ListInput } from "../../parts/controls/list-input.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { loadTeams, teamsOf } from "../../state/accounts/teams.ts";
import { type Form, useForm } from "../../state/form.ts";
import { can } from "../../state/session.ts";
import { splitLines } from "../../state/split-lines.ts";
import { text } from "../../text/text.ts";
import type { MadeInvitation } from "./invitation-link.tsx";

const words = text.invitations;

type Role = Invitation["role"];

const ROLES: readonly Role[] = ["owner", "admin", "billing", "auditor", "member"];

interface Values {
  readonly role: Role;
  /** One per line: ids, or names as they were typed. */
  readonly teams: string;
  readonly isLead: boolean;
  readonly email: string;
  readonly hours: keyof typeof words.hours;
}

interface FormProps {
  readonly organization: string;
  /** The team into which a lead invites; null for a person who may invite into the whole organization. */
  readonly team: string | null;
  readonly onClose: () => void;
  readonly onMade: (made: MadeInvitation) => void;
}

/** Invites a person: a lead into the team as a member, others into the organization with any role and teams. */
export function InviteForm(props: FormProps) {
  const { team, onClose } = props;
  const form = useInviteForm(props);
  const { values, set, errorOf } = form;
  return (
    <Dialog
      title={words.inviteTitle}
      onClose={onClose}
      onSubmit={() => void form.submit()}
      foot={<DialogButtons submit={words.create} onClose={onClose} isBusy={form.isBusy} />}
    >
      <p class="quiet">{words.noneAbout}</p>
      <FormError error={form.error} form={form} />
      <Field
        label={words.email}
        hint={words.emailHint}
        error={errorOf("email")}
        type="email"
        value={values.email}
        onInput={(email) => set({ email })}
        hasFocus
      />
      {team === null ? <Rights organization={props.organization} form={form} /> : null}
      <Select
        label={words.expires}
        error={errorOf("expires_in_hours")}
        value={String(values.hours)}
        choices={Object.entries(words.hours).map(([value, label]) => ({ value, label }))}
        onChange={(hours) => set({ hours: Number(hours) as Values["hours"] })}
      />
    </Dialog>
  );
}

function useInviteForm({ organization: id, team, onMade }: FormProps): Form<Values> {
  return useForm<Values, MadeInvitation>({
    draft: `invite ${id} ${team ?? ""}`,
    initial: { role: "member", teams: team ?? "", isLead: false, email: "", hours: 72 },
    fields: ["email", "role", "teams", "expires_in_hours"],
    send: ({ role, teams, isLead, email, hours }) =>
      call("POST /api/admin/organizations/{id}/invitations", {
        params: { id },
        body: {
          role,
          teams: readTeams(id, teams).map((one) => ({ id: one, is_lead: isLead })),
          email: email.trim() || null,
          expires_in_hours: hours,
        },
      }),
    onSent: onMade,
  });
}

/** Returns the ids of teams. A name that was typed without choosing it from the list counts, too. */
function readTeams(organization: string, lines: string): readonly string[] {
  return splitLines(lines).map((line) => {
    const named = teamsOf(organization).find(({ label }) => label.toLowerCase() === line.toLowerCase());
    return named?.value ?? line;
  });
}

function Rights({ organization, form }: { organization: string; form: Form<Values> }) {
  const { values, set, errorOf } = form;
  const roles = ROLES.filter((role) => role !== "owner" || can("manage_owners"));
  return (
    <>
      <Select
        label={text.people.role}
        error={errorOf("role")}
        value={values.role}
        choices={roles.map((value) => ({ value, label: text.people.roles[value] }))}
        onChange={(role) => set({ role: role as Role })}
      />
      <ListInput
        label={words.teams}
        hint={words.teamsHint}
        error={errorOf("teams")}
        value={values.teams}
        onInput={(teams) => set({ teams })}
        haveBlanks
        options={teamsOf(organization)}
        onOpen={() => loadTeams(organization)}
      />
      {values.teams === "" ? null : (
        <Check
          label={words.isLead}
          hint={text.teams.isLeadAbout}
          isChecked={values.isLead}
          onChange={(isLead) => set({ isLead })}
        />
      )}
    </>
  );
}
