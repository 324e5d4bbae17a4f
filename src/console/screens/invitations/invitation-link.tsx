import type { Operations } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { formatMinute } from "../../parts/values/format.ts";
import { Code } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";

const words = text.invitations;

/** A new invitation with its link. */
export type MadeInvitation = Operations["POST /api/admin/organizations/{id}/invitations"]["response"];

/** Shows the link of a new invitation, which cannot be shown again. */
export function InvitationLink({ made, onClose }: { made: MadeInvitation; onClose: () => void }) {
  const { role, expires_at } = made.data;
  return (
    <Dialog
      title={words.made}
      isWide
      onClose={onClose}
      onSubmit={onClose}
      foot={
        <Button kind="primary" isSubmit>
          {words.done}
        </Button>
      }
    >
      <p>{words.madeAbout(text.roles[role], formatMinute(Date.parse(expires_at)))}</p>
      <Code label={words.link} value={made.link} />
    </Dialog>
  );
}
