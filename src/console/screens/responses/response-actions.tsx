import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { KeptResponseDetails } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { RemoveButton } from "../../parts/forms/remove-button.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { navigate } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { isRunning } from "./status-badge.tsx";

const words = text.responses;

/** The buttons that cancel a running background response, and delete one that has ended. */
export function ResponseActions({ of, onChanged }: { of: KeptResponseDetails; onChanged: () => void }) {
  const { id, status, background, may_change, account_id } = of;
  if (!may_change) return null;
  if (isRunning(status)) return background ? <CancelButton id={id} onChanged={onChanged} /> : null;
  return (
    <RemoveButton
      label={words.delete}
      title={words.deleteTitle}
      remove={() => call("DELETE /api/admin/responses/{id}", { params: { id } })}
      done={words.deleted}
      onRemoved={() => navigate(`/console/responses?account_id=${account_id}`)}
    >
      {words.deleteAbout}
    </RemoveButton>
  );
}

function CancelButton({ id, onChanged }: { id: string; onChanged: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const cancel = async () => {
    setBusy(true);
    try {
      const { data } = await call("POST /api/admin/responses/{id}/cancel", { params: { id } });
      showToast(isRunning(data.status) ? words.cancelAsked : words.cancelled);
      onChanged();
    } catch (failure) {
      showFailure(failure);
    } finally {
      setBusy(false);
      setAsking(false);
    }
  };
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        {words.cancel}
      </Button>
      {isAsking ? (
        <Confirm
          title={words.cancelTitle}
          action={words.cancel}
          dismiss={words.keepRunning}
          isBusy={isBusy}
          onConfirm={() => void cancel()}
          onClose={() => setAsking(false)}
        >
          <p>{words.cancelAbout}</p>
        </Confirm>
      ) : null}
    </>
  );
}
