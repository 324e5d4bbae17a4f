import { useState } from "preact/hooks";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { forgetAccounts } from "../../state/accounts/accounts.ts";
import { useForm } from "../../state/form.ts";
import { can, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { readNumber } from "../policy/policy-form.ts";
import { type AccountChange, type AccountFields, changeAccount } from "./change-account.ts";

const RATES = ["requests_per_minute", "tokens_per_minute", "concurrent"] as const;
const NUMBERS = ["monthly_limit", "overdraft", ...RATES] as const;
type NumberName = (typeof NUMBERS)[number];

/** Texts that only the operator sets. An empty text means none. */
const TEXTS = ["email", "external_id", "plan"] as const;
type TextName = (typeof TEXTS)[number];

type Values = Readonly<Record<NumberName | TextName, string>> & { readonly name: string };

interface LimitsProps {
  readonly account: AccountFields;
  readonly onSaved: () => void;
}

/** The name, the ids and the limits of an account. */
export function Limits({ account, onSaved }: LimitsProps) {
  const { form, errorOf, submit } = useLimitsForm({ account, onSaved });
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.people.limits}</h2>
      </div>
      <form class="card-body stack" onSubmit={submit}>
        <FormError error={form.error} form={form} />
        <div class="fields">
          <Field
            label={text.people.name}
            error={errorOf("name")}
            value={form.values.name}
            onInput={(name) => form.set({ name })}
            isRequired
            isDisabled={!can("manage")}
          />
          {listFields(account).map(({ name, isAllowed, ...texts }) => (
            <Field
              key={name}
              {...texts}
              error={errorOf(name)}
              value={form.values[name]}
              onInput={(value) => form.set({ [name]: value })}
              {...(isNumber(name) ? { inputMode: "decimal" } : {})}
              isDisabled={!isAllowed}
            />
          ))}
        </div>
        {can("manage") ? <SaveBar form={form} /> : null}
      </form>
    </section>
  );
}

/** A field of the form besides the name. */
interface FieldDescription {
  readonly name: TextName | NumberName;
  readonly label: string;
  readonly hint: string;
  /** Whether the session may change it. */
  readonly isAllowed: boolean;
}

/** Returns the fields that an account of its kind has. */
function listFields({ email, monthly_limit }: AccountFields): readonly FieldDescription[] {
  const words = text.people;
  const byOperator = (name: FieldDescription["name"], label: string, hint: string): FieldDescription => ({
    name,
    label,
    hint,
    isAllowed: isOperator.value,
  });
  const monthly = { label: words.monthly, hint: words.monthlyHint, isAllowed: can("manage") };
  return [
    ...(email === undefined ? [] : [byOperator("email", words.email, words.emailHint)]),
    byOperator("external_id", words.externalId, words.externalIdHint),
    byOperator("plan", words.plan, words.planHint),
    ...(monthly_limit === undefined ? [] : [{ name: "monthly_limit" as const, ...monthly }]),
    byOperator("overdraft", words.overdraft, words.overdraftHint),
    ...RATES.map((name) => byOperator(name, words.rate[name], words.rateHint)),
  ];
}

function isNumber(name: TextName | NumberName): name is NumberName {
  return (NUMBERS as readonly string[]).includes(name);
}

/** Returns the state of the form, the error of each field, and what sends the form. */
function useLimitsForm({ account, onSaved }: LimitsProps) {
  const [problems, setProblems] = useState<Partial<Record<string, string>>>({});
  const form = useForm<Values, AccountFields>({
    draft: `limits ${account.id}`,
    initial: toValues(account),
    fields: ["name", ...TEXTS, "monthly_limit", "overdraft", ...RATES.map((name) => `rate_limit.${name}`)],
    send: (values) => changeAccount(account.id, toChange(toValues(account), values)),
    onSent() {
      forgetAccounts();
      showToast(text.lists.saved);
      onSaved();
    },
  });
  const submit = (event: Event) => {
    event.preventDefault();
    const found = findProblems(form.values);
    setProblems(found);
    if (Object.keys(found).length === 0) void form.submit();
  };
  const errorOf = (name: keyof Values) => {
    const isRate = (RATES as readonly string[]).includes(name);
    return problems[name] ?? form.errorOf(isRate ? `rate_limit.${name}` : name);
  };
  return { form, errorOf, submit };
}

function toValues(account: AccountFields): Values {
  const { name, email, external_id, plan, monthly_limit, overdraft, rate_limit } = account;
  const print = (value: number | null | undefined) => value?.toString() ?? "";
  const rates = RATES.map((rate) => [rate, print(rate_limit[rate])]);
  return {
    name,
    email: email ?? "",
    external_id: external_id ?? "",
    plan: plan ?? "",
    monthly_limit: print(monthly_limit),
    overdraft: print(overdraft),
    ...Object.fromEntries(rates),
  };
}

/** Returns the changed fields only: others may be the operator's to set. */
function toChange(before: Values, values: Values): AccountChange {
  const isWhole = (name: NumberName) => (RATES as readonly string[]).includes(name);
  const changed = NUMBERS.filter((name) => values[name].trim() !== before[name]).map((name) => [
    name,
    readNumber(values[name], { isWhole: isWhole(name) }) ?? null,
  ]);
  const rates = Object.fromEntries(changed.filter(([name]) => isWhole(name as NumberName)));
  const others = Object.fromEntries(changed.filter(([name]) => !isWhole(name as NumberName)));
  return {
    ...others,
    ...(values.name === before.name ? {} : { name: values.name }),
    ...Object.fromEntries(
      TEXTS.filter((name) => values[name] !== before[name]).map((name) => [
        name,
        values[name].trim() || null,
      ]),
    ),
    ...(Object.keys(rates).length === 0 ? {} : { rate_limit: rates }),
  };
}

function findProblems(values: Values): Partial<Record<NumberName, string>> {
  const problems: Partial<Record<NumberName, string>> = {};
  for (const name of NUMBERS) {
    const isWhole = (RATES as readonly string[]).includes(name);
    if (readNumber(values[name], { isWhole }) === undefined)
      problems[name] = isWhole ? text.people.notCount : text.people.notDollars;
  }
  return problems;
}
