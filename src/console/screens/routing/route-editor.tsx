import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { NamedRoute } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Field, TextArea } from "../../parts/controls/field.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { FormOrJson } from "../../parts/forms/form-or-json.tsx";
import { RemoveButton } from "../../parts/forms/remove-button.tsx";
import { SaveBar } from "../../parts/forms/save-bar.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import type { Option } from "../../state/filter-options.ts";
import { type Form, useForm } from "../../state/form.ts";
import { useLoad } from "../../state/load.ts";
import { optionsOf } from "../../state/names.ts";
import { can, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Explain } from "./explain.tsx";
import { RouteFields } from "./route-fields.tsx";
import {
  findMissingOfRoute,
  fitsForm,
  NEW_ROUTES,
  type RouteDraft,
  type RouteKind,
  readDefinition,
  toRouteDraft,
} from "./route-form.ts";
import { printSource } from "./tier-form.ts";

interface EditorProps {
  /** The other routes of the account, which a route may lead to. */
  readonly others: readonly string[];
  /** The route to edit; null to create one. */
  readonly route: NamedRoute | null;
  /** The account that owns a new route. Null stands for the account of the session, and for the operator for the routes of the gateway. */
  readonly account: string | null;
  readonly onChanged: (name: string | null) => void;
}

/**
 * The editor of a named route: its definition as a form or as JSON, its earlier versions, and how a request would be routed with the
 * definition as it is typed. A route of the configuration file is read-only.
 */
export function RouteEditor({ route, account, others, onChanged }: EditorProps) {
  const form = useRouteForm({ route, account, others, onChanged });
  const [isJson, setJson] = useState(false);
  const { values } = form;
  const read = readDefinition(values);
  const kind = "problem" in read ? null : read.definition.kind;
  const showsJson = isJson || "problem" in read || !fitsForm(read.definition);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!("problem" in read) && isEditable(route)) void form.submit();
  };
  return (
    <>
      <section class="card">
        <div class="card-head">
          <h2 class="cut">{route?.name ?? text.routing.newRoute}</h2>
          <span class="grow" />
          <FormOrJson
            label={text.routing.formOrJsonOfRoute}
            isJson={showsJson}
            onToggle={() => setJson(!showsJson)}
          />
        </div>
        <form class="card-body stack" onSubmit={submit}>
          {route === null ? null : <About route={route} />}
          <FormError error={form.error} form={form} />
          {route === null ? (
            <Segments<RouteKind>
              label={text.routing.kind}
              value={kind ?? "alias"}
              choices={KINDS}
              onChange={(chosen) => form.set(toRouteDraft(values.name, NEW_ROUTES[chosen]))}
            />
          ) : null}
          {route === null ? (
            <Field
              label={text.routing.routeName}
              hint={text.routing.routeNameHint}
              value={values.name}
              error={form.errorOf("name")}
              onInput={(name) => form.set({ name })}
            />
          ) : null}
          {"problem" in read || showsJson ? (
            <TextArea
              label={text.routing.definition}
              rows={14}
              error={"problem" in read ? read.problem : firstError(form)}
              value={values.json}
              onInput={(json) => form.set({ json })}
            />
          ) : (
            <fieldset class="fixed-fields stack" disabled={!isEditable(route)}>
              <RouteFields
                definition={read.definition}
                options={optionsWith(others)}
                isOfOperator={isOperator.value && (route === null ? account : route.account_id) === null}
                errorOf={form.errorOf}
                onChange={(definition) => form.set(toRouteDraft(values.name, definition))}
              />
            </fieldset>
          )}
          {isEditable(route) ? (
            <SaveBar form={form}>
              {route === null ? null : <RemoveRoute route={route} onRemoved={() => onChanged(null)} />}
            </SaveBar>
          ) : null}
        </form>
      </section>
      {route?.version == null ? null : <Versions route={route} onRestored={() => onChanged(route.name)} />}
      <Explain
        tried={
          "problem" in read
            ? null
            : {
                route: {
                  name: values.name,
                  account_id: route?.account_id ?? account,
                  definition: read.definition,
                },
              }
        }
        missing={findMissingOfRoute(values)}
      />
    </>
  );
}

/** Whether a route can be changed here: not one of the configuration file, and not without the right to. */
function isEditable(route: NamedRoute | null): boolean {
  return can("manage") && route?.source !== "file";
}

/** The fields of definitions, whose errors are shown beside them. */
const DEFINITION_FIELDS = ["target", "targets", "models", "model", "system", "parameters", "provider"];

/** Returns what the API says about any field of the definition; null if nothing. */
function firstError(form: Form<RouteDraft>): string | null {
  return DEFINITION_FIELDS.map((field) => form.errorOf(field)).find((error) => error !== null) ?? null;
}

/** Returns what a route may lead to: the other routes, models and tiers. */
function optionsWith(others: readonly string[]): readonly Option[] {
  const routes = others.map((name) => ({ value: name, label: name, detail: text.lists.patterns.route }));
  return [...routes, ...optionsOf("models")];
}

const KINDS = (["alias", "group", "preset"] as const).map((value) => ({
  value,
  label: text.routing.kinds[value],
}));

function useRouteForm({ route, account, onChanged }: EditorProps) {
  return useForm<RouteDraft, NamedRoute>({
    draft: `route ${account ?? ""} ${route?.name ?? ""}`,
    initial: toRouteDraft(route?.name ?? "", route?.definition ?? NEW_ROUTES.alias),
    fields: ["name", ...DEFINITION_FIELDS],
    async send(draft) {
      const read = readDefinition(draft);
      const body = "problem" in read ? NEW_ROUTES.alias : read.definition;
      const query = ownerOf(route?.account_id ?? account);
      const params = { name: draft.name };
      return (await call("PUT /api/admin/named-routes/{name}", { params, query, body })).data;
    },
    onSent({ name }) {
      showToast(text.routing.saved(name));
      onChanged(name);
    },
  });
}

function ownerOf(account: string | null): { account_id?: string } {
  return account === null ? {} : { account_id: account };
}

function About({ route }: { route: NamedRoute }) {
  const place = printSource(route);
  return (
    <>
      {place === null ? null : <p class="quiet">{text.routing.readOnly(place)}</p>}
      {route.is_used ? null : <p class="warn breaks">{text.routing.notUsed}</p>}
      {route.resolves_to.length === 0 ? null : (
        <p class="quiet breaks">
          {text.routing.resolves}: <code>{route.resolves_to.join(", ")}</code>
        </p>
      )}
      {route.unknown_models.length === 0 ? null : (
        <p class="warn breaks">
          {text.routing.unknown} {route.unknown_models.join(", ")}
        </p>
      )}
    </>
  );
}

/** The stored versions of a route, with a button that restores each earlier one. */
function Versions({ route, onRestored }: { route: NamedRoute; onRestored: () => void }) {
  const { name, account_id, version: latest } = route;
  const params = { name };
  const query = ownerOf(account_id);
  const { data, error, reload } = useLoad(`versions ${account_id} ${name} ${latest}`, async (signal) => {
    return (await call("GET /api/admin/named-routes/{name}/versions", { params, query, signal })).data;
  });
  const restore = (version: number) => {
    call("POST /api/admin/named-routes/{name}/restore", { params, query, body: { version } }).then(() => {
      showToast(text.routing.restored(version));
      onRestored();
    }, showFailure);
  };
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.routing.versions}</h2>
      </div>
      <div class="card-body stack">
        {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
        {data === null && error === null ? <Skeleton lines={2} /> : null}
        {(data ?? []).map(({ version, definition }) => (
          <div class="row" key={version}>
            <details class="grow">
              <summary>
                {text.routing.version(version)} {version === latest ? `· ${text.routing.current}` : ""}
              </summary>
              <pre class="breaks">{JSON.stringify(definition, null, 2)}</pre>
            </details>
            {version === latest || !isEditable(route) ? null : (
              <Button kind="bare" onClick={() => restore(version)}>
                {text.routing.restore}
              </Button>
            )}
          </div>
        ))}
      </div>
    </section>
  );
}

function RemoveRoute({ route, onRemoved }: { route: NamedRoute; onRemoved: () => void }) {
  const { name, account_id } = route;
  const params = { params: { name }, query: ownerOf(account_id) };
  return (
    <RemoveButton
      label={text.routing.remove}
      title={text.routing.removeTitle(name)}
      remove={() => call("DELETE /api/admin/named-routes/{name}", params)}
      done={text.routing.removed(name)}
      onRemoved={onRemoved}
    >
      {text.routing.removeRouteAbout}
    </RemoveButton>
  );
}
