import { useState } from "preact/hooks";
import { FormError } from "../../parts/forms/form-error.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import {
  type DefaultsInput,
  findDefaultsProblem,
  readDefaults,
  toDefaults,
} from "../../state/accounts/key-defaults.ts";
import { useForm } from "../../state/form.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { DefaultFields } from "../keys/default-fields.tsx";
import { type AccountFields, changeAccount } from "./change-account.ts";

const words = text.people;
const API_FIELDS = { promptLog: "prompt_log", cache: "cache", tags: "tags" } as const;

/** What keys of an account have if they say nothing else: how long bodies and answers are kept, and tags. */
export function KeyDefaults({ account, onSaved }: { account: AccountFields; onSaved: () => void }) {
  const [problem, setProblem] = useState<keyof DefaultsInput | null>(null);
  const form = useForm<DefaultsInput, AccountFields>({
    draft: `defaults ${account.id}`,
    initial: readDefaults(account),
    fields: Object.values(API_FIELDS),
    send: (values) => changeAccount(account.id, toDefaults(values)),
    onSent() {
      showToast(text.lists.saved);
      onSaved();
    },
  });
  const submit = (event: Event) => {
    event.preventDefault();
    const found = findDefaultsProblem(form.values);
    setProblem(found);
    if (found === null) void form.submit();
  };
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.keyDefaults}</h2>
      </div>
      <form class="card-body stack" onSubmit={submit}>
        <p class="quiet">{words.keyDefaultsAbout}</p>
        <FormError error={form.error} form={form} />
        <DefaultFields
          values={form.values}
          hints={{ promptLog: words.promptLogHint, cache: words.cacheHint, tags: words.tagsHint }}
          empty={words.notKept}
          set={form.set}
          errorOf={(name) => (problem === name ? text.keys.problems.seconds : form.errorOf(API_FIELDS[name]))}
          isDisabled={!can("manage")}
        />
        {can("manage") ? <SaveBar form={form} /> : null}
      </form>
    </section>
  );
}
