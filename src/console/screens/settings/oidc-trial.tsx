import { useEffect, useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { OidcTrial } from "../../api/schema.ts";
import { secretIdOf } from "../../parts/config/read-config.ts";
import type { LoadedConfig } from "../../parts/config/use-config.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { Icon } from "../../parts/values/icon.tsx";
import { toApiError } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import type { FormSetting } from "./setting-tree.ts";
import type { SettingsForm } from "./use-settings.ts";

/** How often the state of a trial is read. Milliseconds. */
const POLL_MS = 1_500;

/** Returns whether a change is rejected only because it needs a trial sign-in with its settings. */
export function needsTrial(error: ApiError | null): boolean {
  return error?.metadata["needs_trial"] === true;
}

/** Returns the settings of OpenID Connect as they are typed. A secret that is stored already is left out: the API knows it. */
export function readOidc(
  form: SettingsForm,
  settings: readonly FormSetting[],
  data: LoadedConfig,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const setting of settings) {
    const [section, part, name] = setting.path;
    if (section !== "console" || part !== "oidc" || name === undefined || setting.isFileOnly) continue;
    const { value, inForce, isChanged } = form.stateOf(setting, data);
    const known = isChanged ? value : (value ?? inForce?.value);
    const isHidden = secretIdOf(known) !== null || (setting.schema.secret === true && !isChanged);
    if (known !== undefined && known !== null && !isHidden) values[name] = known;
    if (known === null && inForce?.source !== "default") values[name] = null;
  }
  return values;
}

/**
 * A trial sign-in with settings of OpenID Connect that are not in force, in another tab. They can only be saved after it has succeeded,
 * because a mistake in them could lock all people out.
 */
export function TrialDialog(props: {
  oidc: Readonly<Record<string, unknown>>;
  onSucceeded: () => void;
  onClose: () => void;
}) {
  const [started, setStarted] = useState<{ readonly id: string; readonly url: string } | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const begin = () => {
    setError(null);
    setStarted(null);
    call("POST /api/console/oidc/trials", { body: props.oidc }).then(
      ({ data }) => setStarted({ id: data.id, url: data.url }),
      (failure: unknown) => setError(toApiError(failure)),
    );
  };
  useEffect(begin, []);
  const trial = useTrial(started?.id ?? null);
  const isDone = trial?.status === "succeeded";
  return (
    <Dialog
      title={text.settings.trial.title}
      isWide
      onClose={props.onClose}
      onSubmit={props.onSucceeded}
      foot={
        <>
          <Button onClick={props.onClose}>{text.states.cancel}</Button>
          {isDone ? (
            <Button kind="primary" isSubmit>
              {text.settings.trial.goOn}
            </Button>
          ) : trial?.status === "failed" || error !== null ? (
            <Button onClick={begin}>{text.states.retry}</Button>
          ) : null}
        </>
      }
    >
      <p>{text.settings.trial.about}</p>
      {error === null ? null : <ErrorBox error={error} />}
      {started === null || isDone ? null : (
        <p>
          <a class="button primary" href={started.url} target="_blank" rel="noopener">
            {text.settings.trial.open}
          </a>
        </p>
      )}
      {trial === null ? null : <Outcome trial={trial} />}
    </Dialog>
  );
}

function Outcome({ trial }: { trial: OidcTrial }) {
  const { status, error, subject, rights, claims } = trial;
  if (status === "pending")
    return (
      <p class="quiet" role="status">
        {text.settings.trial.waiting}
      </p>
    );
  const roles = (rights?.organizations ?? []).map(describeOrganization);
  return (
    <div class={status === "failed" ? "check-line bad" : "check-line good"} role="status">
      <Icon name={status === "failed" ? "alert" : "check"} />
      <div class="breaks">
        {error === null ? (
          <p>
            {text.settings.trial.succeeded(
              subject ?? "",
              rights?.role === "operator" ? text.roles.operator : roles.join(", "),
            )}
          </p>
        ) : (
          <>
            <p>{error.message}</p>
            <p class="quiet">{error.detail}</p>
          </>
        )}
        {claims.map(({ name, values, unknown }) => (
          <p key={name} class="quiet">
            <code>{name}</code>: {unknown ?? values.join(", ")}
          </p>
        ))}
      </div>
    </div>
  );
}

/** Returns the state of a trial, which is read again until it has ended; null before the first time. */
function useTrial(id: string | null): OidcTrial | null {
  const [trial, setTrial] = useState<OidcTrial | null>(null);
  useEffect(() => {
    setTrial(null);
    if (id === null) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      const found = await call("GET /api/console/oidc/trials/{id}", {
        params: { id },
        signal: controller.signal,
      }).catch(() => null);
      if (controller.signal.aborted) return;
      if (found !== null) setTrial(found.data);
      if (found?.data.status !== "succeeded" && found?.data.status !== "failed")
        timer = setTimeout(read, POLL_MS);
    };
    void read();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [id]);
  return trial;
}

type Organization = NonNullable<OidcTrial["rights"]>["organizations"][number];

function describeOrganization({ name, role, teams, unknown_teams }: Organization): string {
  const parts = [
    ...teams.map((team) => (team.is_lead ? text.settings.trial.leads(team.name) : team.name)),
    ...unknown_teams.map(text.settings.trial.noTeam),
  ];
  return `${text.roles[role]} · ${name}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}
