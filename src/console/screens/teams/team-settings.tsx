import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Field } from "../../parts/controls/field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { RemoveButton } from "../../parts/forms/remove-button.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import {
  type DefaultsInput,
  findDefaultsProblem,
  readDefaults,
  toDefaults,
} from "../../state/accounts/key-defaults.ts";
import { forgetTeams } from "../../state/accounts/teams.ts";
import { useForm } from "../../state/form.ts";
import { navigate } from "../../state/location.ts";
import { can } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { DefaultFields } from "../keys/default-fields.tsx";
import { readNumber } from "../policy/policy-form.ts";
import type { TeamDetails } from "./team-types.ts";

const words = text.teams;
const RATES = ["requests_per_minute", "tokens_per_minute", "concurrent"] as const;
type RateName = (typeof RATES)[number];

type Values = DefaultsInput & Readonly<Record<RateName, string>> & { readonly name: string };

/** The names of the API's fields by the form's. */
const API_FIELDS: Readonly<Record<keyof Values, string>> = {
  name: "name",
  promptLog: "prompt_log",
  cache: "cache",
  tags: "tags",
  requests_per_minute: "rate_limit.requests_per_minute",
  tokens_per_minute: "rate_limit.tokens_per_minute",
  concurrent: "rate_limit.concurrent",
};

interface SettingsProps {
  readonly team: TeamDetails;
  readonly onChanged: () => void;
}

/** The name and the limits of a team, what its keys have by default, and its end. */
export function TeamSettings(props: SettingsProps) {
  const { form, errorOf, submit } = useSettingsForm(props);
  const isFixed = !can("manage_people");
  return (
    <div class="stack readable">
      {isFixed ? <p class="quiet">{text.people.readOnly}</p> : null}
      <section class="card">
        <div class="card-head">
          <h2>{words.settings}</h2>
        </div>
        <form class="card-body stack" onSubmit={submit}>
          <p class="quiet">{words.settingsAbout}</p>
          <FormError error={form.error} form={form} />
          <div class="fields">
            <Field
              label={words.name}
              error={errorOf("name")}
              value={form.values.name}
              onInput={(name) => form.set({ name })}
              isRequired
              isDisabled={isFixed}
            />
            {RATES.map((rate) => (
              <Field
                key={rate}
                label={text.people.rate[rate]}
                hint={words.rateHint}
                inputMode="numeric"
                error={errorOf(rate)}
                value={form.values[rate]}
                onInput={(value) => form.set({ [rate]: value })}
                isDisabled={isFixed}
              />
            ))}
          </div>
          <DefaultFields
            values={form.values}
            hints={{ promptLog: words.promptLogHint, cache: words.cacheHint, tags: words.tagsHint }}
            empty={words.byDefault}
            set={form.set}
            errorOf={errorOf}
            isDisabled={isFixed}
          />
          {isFixed ? null : <SaveBar form={form} />}
        </form>
      </section>
      {isFixed ? null : <DeleteTeam team={props.team} />}
    </div>
  );
}

/** Returns the state of the form, the error of each field, and what sends the form. */
function useSettingsForm({ team, onChanged }: SettingsProps) {
  const [problem, setProblem] = useState<keyof Values | null>(null);
  const form = useForm<Values, unknown>({
    draft: `team ${team.id}`,
    initial: toValues(team),
    fields: Object.values(API_FIELDS),
    send: (values) =>
      call("PATCH /api/admin/organizations/{id}/teams/{team_id}", {
        params: { id: team.organization_id, team_id: team.id },
        body: toChange(toValues(team), values),
      }),
    onSent() {
      showToast(text.lists.saved);
      onChanged();
    },
  });
  const submit = (event: Event) => {
    event.preventDefault();
    const found = findDefaultsProblem(form.values) ?? findRateProblem(form.values);
    setProblem(found);
    if (found === null) void form.submit();
  };
  const errorOf = (name: keyof Values) => {
    if (problem !== name) return form.errorOf(API_FIELDS[name]);
    return name === "promptLog" || name === "cache" ? text.keys.problems.seconds : text.people.notCount;
  };
  return { form, errorOf, submit };
}

function toValues({ name, rate_limit, ...team }: TeamDetails): Values {
  const rates = RATES.map((rate) => [rate, rate_limit[rate]?.toString() ?? ""]);
  return { name, ...readDefaults(team), ...(Object.fromEntries(rates) as Record<RateName, string>) };
}

function findRateProblem(values: Values): RateName | null {
  return RATES.find((rate) => readNumber(values[rate], { isWhole: true }) === undefined) ?? null;
}

/** Returns the changed fields only: a new name alone needs no recent sign-in. */
function toChange(before: Values, values: Values): Record<string, unknown> {
  const known = Object.entries(toDefaults(before));
  const defaults = Object.entries(toDefaults(values)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(known.find(([one]) => one === name)?.[1]),
  );
  const rates = RATES.filter((rate) => values[rate].trim() !== before[rate]).map((rate) => [
    rate,
    readNumber(values[rate], { isWhole: true }) ?? null,
  ]);
  return {
    ...(values.name === before.name ? {} : { name: values.name }),
    ...Object.fromEntries(defaults),
    ...(rates.length === 0 ? {} : { rate_limit: Object.fromEntries(rates) }),
  };
}

function DeleteTeam({ team: { id, name, organization_id } }: { team: TeamDetails }) {
  const params = { id: organization_id, team_id: id };
  return (
    <section class="card">
      <div class="card-body row wrap">
        <p class="grow quiet">{words.deleteAbout}</p>
        <RemoveButton
          label={words.delete}
          title={words.deleteTitle(name)}
          remove={() => call("DELETE /api/admin/organizations/{id}/teams/{team_id}", { params })}
          done={words.deleted(name)}
          onRemoved={() => {
            forgetTeams(organization_id);
            navigate(`/console/people/${organization_id}?tab=teams`);
          }}
        >
          {words.deleteAbout}
        </RemoveButton>
      </div>
    </section>
  );
}
