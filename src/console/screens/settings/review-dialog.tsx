import type { ConfigWritten } from "../../api/schema.ts";
import { Changes } from "../../parts/config/changes.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { text } from "../../text/text.ts";
import type { SettingsForm } from "./use-settings.ts";

/** How the settings in force change, before the change is stored. */
export function ReviewDialog(props: { form: SettingsForm; written: ConfigWritten; onClose: () => void }) {
  const { form, written, onClose } = props;
  const save = () => void form.form.submit();
  return (
    <Dialog
      title={text.settings.reviewTitle}
      isWide
      onClose={onClose}
      onSubmit={save}
      foot={<DialogButtons submit={text.lists.save} onClose={onClose} isBusy={form.form.isBusy} />}
    >
      <p class="quiet">{text.settings.reviewAbout}</p>
      <Changes changes={written.changes} />
      <FormError error={form.form.error} form={form.hasSecret ? undefined : form.form} />
    </Dialog>
  );
}
