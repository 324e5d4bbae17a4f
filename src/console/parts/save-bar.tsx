import type { ComponentChildren } from "preact";
import type { Form } from "../state/form.ts";
import { listText } from "../text/lists.ts";
import { Button } from "./button.tsx";

/** The buttons under a form: save and discard, which need a change, and further ones. */
export function SaveBar<Values>({ form, children }: { form: Form<Values>; children?: ComponentChildren }) {
  return (
    <div class="row wrap">
      <Button kind="primary" isSubmit isBusy={form.isBusy} isDisabled={!form.isChanged}>
        {listText.save}
      </Button>
      {form.isChanged ? (
        <>
          <Button kind="bare" onClick={form.reset}>
            {listText.discard}
          </Button>
          <span class="faint">{listText.unsaved}</span>
        </>
      ) : null}
      <span class="grow" />
      {children}
    </div>
  );
}
