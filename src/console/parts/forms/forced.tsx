import type { Form } from "../../state/form.ts";
import { text } from "../../text/text.ts";
import { Check } from "../controls/field.tsx";

interface ForcedValues {
  readonly isForced: boolean;
}

/** Explains why a membership that a rule of OpenID Connect has given does not end here, and asks whether to end it nevertheless. */
export function Forced({ form }: { form: Form<ForcedValues> }) {
  return (
    <>
      <p class="warn">{text.people.removeRuled}</p>
      <Check
        label={text.people.removeForced}
        isChecked={form.values.isForced}
        onChange={(isForced) => form.set({ isForced })}
      />
    </>
  );
}
