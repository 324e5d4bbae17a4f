import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { ProviderHealth } from "../../api/schema.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { formatCount } from "../../parts/values/format.ts";
import { toApiError } from "../../state/load.ts";
import { text } from "../../text/text.ts";

/** Makes the gateway forget the health of a provider, after a question. */
export function ClearHealth(props: { row: ProviderHealth; onClose: () => void; onCleared: () => void }) {
  const { provider, name, warm } = props.row;
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const clear = () => {
    setBusy(true);
    call("POST /api/admin/health/{provider}/clear", { params: { provider } }).then(
      props.onCleared,
      (failure: unknown) => {
        setError(toApiError(failure));
        setBusy(false);
      },
    );
  };
  return (
    <Confirm
      title={text.health.clearTitle(name)}
      action={text.health.clear}
      isBusy={isBusy}
      onConfirm={clear}
      onClose={props.onClose}
    >
      <FormError error={error} />
      <p>{text.health.clearAbout(name)}</p>
      {warm === 0 ? null : <p>{text.health.clearWarm(formatCount(warm))}</p>}
    </Confirm>
  );
}
