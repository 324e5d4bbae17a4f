import { useState } from "preact/hooks";
import type { Organization } from "../../api/schema.ts";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { useForm } from "../../state/form.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { readNumber } from "../policy/policy-form.ts";
import { type AccountFields, changeAccount } from "./change-account.ts";

const words = text.people;

/** The bounds, with their texts and whether they are whole numbers. */
const BOUNDS = [
  {
    name: "count",
    label: words.memberKeysCount,
    hint: words.memberKeysCountHint,
    isWhole: true,
    wrong: words.notCount,
  },
  {
    name: "days",
    label: words.memberKeysDays,
    hint: words.memberKeysDaysHint,
    isWhole: true,
    wrong: words.notCount,
  },
  {
    name: "spend_limit",
    label: words.memberKeysSpend,
    hint: words.memberKeysSpendHint,
    isWhole: false,
    wrong: words.notDollars,
  },
] as const;
type BoundName = (typeof BOUNDS)[number]["name"];
type Values = Readonly<Record<BoundName, string>>;

/** Within which bounds the members of an organization make keys for themselves. */
export function MemberKeys({ account, onSaved }: { account: Organization; onSaved: () => void }) {
  const { form, wrong, submit } = useBoundsForm(account, onSaved);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.memberKeys}</h2>
      </div>
      <form class="card-body stack" onSubmit={submit}>
        <p class="quiet">{words.memberKeysAbout}</p>
        <FormError error={form.error} form={form} />
        <div class="fields">
          {BOUNDS.map((bound) => (
            <Field
              key={bound.name}
              label={bound.label}
              hint={bound.hint}
              placeholder={words.noBound}
              error={wrong.includes(bound.name) ? bound.wrong : form.errorOf(`member_keys.${bound.name}`)}
              inputMode={bound.isWhole ? "numeric" : "decimal"}
              value={form.values[bound.name]}
              onInput={(value) => form.set({ [bound.name]: value })}
              isDisabled={!can("manage")}
            />
          ))}
        </div>
        {can("manage") ? <SaveBar form={form} /> : null}
      </form>
    </section>
  );
}

/** Returns the state of the form, the bounds that are no numbers, and what sends the form. */
function useBoundsForm({ id, member_keys: known }: Organization, onSaved: () => void) {
  const [wrong, setWrong] = useState<readonly BoundName[]>([]);
  const form = useForm<Values, AccountFields>({
    draft: `member keys ${id}`,
    initial: {
      count: known.count?.toString() ?? "",
      days: known.days?.toString() ?? "",
      spend_limit: known.spend_limit?.toString() ?? "",
    },
    fields: BOUNDS.map(({ name }) => `member_keys.${name}`),
    send: (values) =>
      changeAccount(id, {
        member_keys: Object.fromEntries(
          BOUNDS.map(({ name, isWhole }) => [name, readNumber(values[name], { isWhole }) ?? null]),
        ),
      }),
    onSent() {
      showToast(text.lists.saved);
      onSaved();
    },
  });
  const submit = (event: Event) => {
    event.preventDefault();
    const found = BOUNDS.filter(
      ({ name, isWhole }) => readNumber(form.values[name], { isWhole }) === undefined,
    ).map(({ name }) => name);
    setWrong(found);
    if (found.length === 0) void form.submit();
  };
  return { form, wrong, submit };
}
