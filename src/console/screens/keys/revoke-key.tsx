import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";

const words = text.keys;

/** Asks whether to revoke a key, and revokes it. */
export function RevokeKey({
  of: key,
  onClose,
  onDone,
}: {
  of: Key;
  onClose: () => void;
  onDone: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await call("DELETE /api/admin/keys/{id}", { params: { id: key.id } });
      showToast(words.revoked(key.name));
      onDone();
      onClose();
    } catch (error) {
      showFailure(error);
      setBusy(false);
    }
  };
  return (
    <Confirm
      title={words.revokeTitle(key.name)}
      action={words.revoke}
      isBusy={isBusy}
      onConfirm={run}
      onClose={onClose}
    >
      <p>{words.revokeAbout}</p>
    </Confirm>
  );
}
