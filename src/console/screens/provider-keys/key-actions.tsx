import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ProviderKey } from "../../api/schema.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Confirm } from "../../parts/layout/dialog.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import type { KeyAction } from "./key-action.ts";
import { KeyForm } from "./key-form.tsx";
import { TestDialog } from "./test-dialog.tsx";

interface ActionProps {
  readonly provider: ProviderKey;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Runs an action on a provider key, in a dialog if it needs one. */
export function KeyActions({ action, ...props }: ActionProps & { action: KeyAction }) {
  const { provider: key } = props;
  if (action === "change")
    return <KeyForm account={key.account_id} changed={key} onClose={props.onClose} onDone={props.onDone} />;
  if (action === "remove") return <Remove {...props} />;
  if (action === "toggle") return <Toggle {...props} />;
  return (
    <TestDialog
      name={key.name}
      run={async () =>
        (await call("POST /api/admin/accounts/{id}/provider-keys/{key_id}/test", paramsOf(key))).data
      }
      onClose={props.onDone}
    />
  );
}

function paramsOf({ account_id, id }: ProviderKey) {
  return { params: { id: account_id, key_id: id } };
}

/** Enables or disables a key immediately; the other action undoes it. */
function Toggle({ provider: key, onDone, onClose }: ActionProps) {
  useEffect(() => {
    const enabled = !key.enabled;
    call("PATCH /api/admin/accounts/{id}/provider-keys/{key_id}", {
      ...paramsOf(key),
      body: { enabled },
    }).then(
      () => {
        showToast((enabled ? text.providerKeys.enabled : text.providerKeys.disabled)(key.name));
        onDone();
      },
      (error: unknown) => {
        showFailure(error);
        onClose();
      },
    );
  }, [key.id]);
  return null;
}

function Remove({ provider: key, onClose, onDone }: ActionProps) {
  const form = useForm({
    draft: `remove ${key.id}`,
    initial: {},
    fields: [],
    send: () => call("DELETE /api/admin/accounts/{id}/provider-keys/{key_id}", paramsOf(key)),
    onSent() {
      showToast(text.providerKeys.removed(key.name));
      onDone();
    },
  });
  return (
    <Confirm
      title={text.providerKeys.removeTitle(key.name)}
      action={text.providerKeys.remove}
      isBusy={form.isBusy}
      onConfirm={() => void form.submit()}
      onClose={onClose}
    >
      <FormError error={form.error} form={form} />
      <p>{text.providerKeys.removeAbout}</p>
    </Confirm>
  );
}
