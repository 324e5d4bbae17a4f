import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { Key } from "../../api/schema.ts";
import { Select } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { toApiError } from "../../state/load.ts";
import { now } from "../../state/now.ts";
import { text } from "../../text/text.ts";

const words = text.keys;
const DEFAULT_HOURS = "24";

/** Asks how long the present secret of a key stays valid, and gives the key a new one. */
export function RotateKey(props: {
  of: Key;
  onClose: () => void;
  onRotated: (key: Key, secret: string) => void;
}) {
  const { of: key, onClose, onRotated } = props;
  const [hours, setHours] = useState(DEFAULT_HOURS);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const rotate = async () => {
    setBusy(true);
    setError(null);
    try {
      const body = { overlap_hours: Number(hours) };
      const rotated = await call("POST /api/admin/keys/{id}/rotate", { params: { id: key.id }, body });
      onRotated(rotated.data, rotated.key);
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={words.rotateTitle(key.name)}
      onClose={onClose}
      onSubmit={() => void rotate()}
      foot={
        <DialogButtons
          submit={words.rotate}
          onClose={onClose}
          isBusy={isBusy}
          kind={hours === "0" ? "danger" : "primary"}
        />
      }
    >
      <p>{words.rotateAbout}</p>
      <Select
        label={words.overlap}
        hint={hours === "0" ? words.rotateNow : undefined}
        value={hours}
        choices={Object.entries(words.overlaps).map(([value, label]) => ({ value, label }))}
        onChange={setHours}
      />
      {hasFormer(key) ? <p class="quiet">{words.endsFormer(key.previous_hint ?? "")}</p> : null}
      <FormError error={error} />
    </Dialog>
  );
}

/** Whether the secret before the last rotation of a key is still valid. */
export function hasFormer({ previous_until, revoked_at }: Key): boolean {
  return previous_until !== null && revoked_at === null && Date.parse(previous_until) > now.peek();
}
