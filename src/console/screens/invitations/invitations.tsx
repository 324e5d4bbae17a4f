import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Invitation } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { PagedRows } from "../../parts/lists/paged-rows.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { Named, Time } from "../../parts/values/values.tsx";
import { useForm } from "../../state/form.ts";
import { usePages } from "../../state/pages.ts";
import { can, isSelf } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { InvitationLink, type MadeInvitation } from "./invitation-link.tsx";
import { InviteForm } from "./invite-form.tsx";

const words = text.invitations;
const ROWS = 100;

interface InvitationsProps {
  readonly organization: string;
  /** The team into which a lead invites; absent for the organization. */
  readonly team?: string;
}

type Action =
  | { readonly kind: "invite" }
  | { readonly kind: "made"; readonly made: MadeInvitation }
  | { readonly kind: "withdraw"; readonly invitation: Invitation };

/**
 * The invitations of an organization with their state, for those who may inspect it. With `team`: those that the lead of the team has made.
 * Managers and leads invite people, and withdraw invitations.
 */
export function Invitations({ organization, team }: InvitationsProps) {
  const [action, setAction] = useState<Action | null>(null);
  const pages = usePages(organization, (after, signal) =>
    call("GET /api/admin/organizations/{id}/invitations", {
      params: { id: organization },
      query: { limit: ROWS, after },
      signal,
    }),
  );
  const close = () => setAction(null);
  const done = (next: Action | null) => {
    setAction(next);
    pages.reload();
  };
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.title}</h2>
        <span class="grow" />
        {team !== undefined || can("manage_people") ? (
          <Button size="small" icon="link" onClick={() => setAction({ kind: "invite" })}>
            {words.invite}
          </Button>
        ) : null}
      </div>
      <PagedRows
        pages={pages}
        lines={2}
        empty={
          <Empty title={words.none}>
            <p>{words.noneAbout}</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            hasCards
            label={words.list}
            columns={listColumns((invitation) => setAction({ kind: "withdraw", invitation }))}
            rows={rows}
            keyOf={({ id }) => id}
          />
        )}
      </PagedRows>
      {action?.kind === "invite" ? (
        <InviteForm
          organization={organization}
          team={team ?? null}
          onClose={close}
          onMade={(made) => done({ kind: "made", made })}
        />
      ) : action?.kind === "made" ? (
        <InvitationLink made={action.made} onClose={close} />
      ) : action?.kind === "withdraw" ? (
        <Withdraw invitation={action.invitation} onClose={close} onDone={() => done(null)} />
      ) : null}
    </section>
  );
}

const TONES: Readonly<Record<Invitation["state"], Tone>> = {
  open: "accent",
  accepted: "good",
  withdrawn: "plain",
  expired: "warn",
};

function listColumns(onWithdraw: (invitation: Invitation) => void): readonly Column<Invitation>[] {
  const { columns } = words;
  return [
    {
      id: "who",
      title: columns.who,
      minWidth: 180,
      wraps: true,
      onCard: "title",
      cell: ({ email }) => email ?? <span class="faint">{words.anyone}</span>,
    },
    {
      id: "state",
      title: columns.state,
      width: 90,
      cell: ({ state }) => <Badge tone={TONES[state]}>{words.states[state]}</Badge>,
    },
    { id: "role", title: columns.role, width: 80, cell: ({ role }) => text.roles[role] },
    { id: "teams", title: columns.teams, width: 140, wraps: true, cell: ({ teams }) => nameTeams(teams) },
    {
      id: "inviter",
      title: columns.inviter,
      width: 120,
      wraps: true,
      cell: ({ invited_by, invited_by_name }) => (
        <Named id={invited_by} name={invited_by_name} none={words.operator} />
      ),
    },
    {
      id: "accepted",
      title: columns.accepted,
      width: 120,
      wraps: true,
      cell: ({ accepted_by, accepted_by_name }) => <Named id={accepted_by} name={accepted_by_name} />,
    },
    { id: "expires", title: columns.expires, width: 90, cell: ({ expires_at }) => <Time at={expires_at} /> },
    {
      id: "actions",
      title: "",
      width: 100,
      onCard: "aside",
      isNumber: true,
      cell: (invitation) =>
        mayWithdraw(invitation) ? (
          <Button size="small" kind="bare" onClick={() => onWithdraw(invitation)}>
            {words.withdraw}
          </Button>
        ) : null,
    },
  ];
}

function nameTeams(teams: Invitation["teams"]) {
  if (teams.length === 0) return <span class="faint">–</span>;
  const names = teams.map(({ name, is_lead }) => {
    const shown = name ?? words.deletedTeam;
    return is_lead ? words.lead(shown) : shown;
  });
  return names.join(", ");
}

/** Whether the signed-in person may end an invitation: they may give its role, or have made it as a lead. */
function mayWithdraw({ state, role, invited_by }: Invitation): boolean {
  return (
    state === "open" && (can(role === "owner" ? "manage_owners" : "manage_people") || isSelf(invited_by))
  );
}

/** Withdraws an invitation after a question. */
function Withdraw(props: { invitation: Invitation; onClose: () => void; onDone: () => void }) {
  const { id: invitation_id, organization_id: id } = props.invitation;
  const form = useForm({
    draft: `withdraw ${invitation_id}`,
    initial: {},
    fields: [],
    send: () =>
      call("DELETE /api/admin/organizations/{id}/invitations/{invitation_id}", {
        params: { id, invitation_id },
      }),
    onSent() {
      showToast(words.withdrawn);
      props.onDone();
    },
  });
  return (
    <Confirm
      title={words.withdrawTitle}
      action={words.withdraw}
      isBusy={form.isBusy}
      onConfirm={() => void form.submit()}
      onClose={props.onClose}
    >
      <FormError error={form.error} form={form} />
      <p>{words.withdrawAbout}</p>
    </Confirm>
  );
}
