import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { RouteExplanation } from "../../api/schema.ts";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Combobox } from "../../parts/controls/combobox.tsx";
import { Field, Select } from "../../parts/controls/field.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { type Loaded, useLoad } from "../../state/load.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Explanation } from "./explanation.tsx";
import type { TriedRoute } from "./route-form.ts";
import type { TierInput } from "./tier-form.ts";

/** The explanation is requested when nothing was typed for this time. Milliseconds. */
const REST_MS = 400;
const APIS = ["chat.completions", "responses", "messages"] as const;

interface Question {
  readonly api: (typeof APIS)[number];
  readonly account: string | null;
  readonly model: string | null;
  /** The value of the header that the tier chooses by. */
  readonly header: string;
  /** Further parameters of the request, as the JSON of an object; empty for none. */
  readonly parameters: string;
}

type TriedTier = TierInput & { readonly id: string };

/** A tier or a named route as it is typed, which need not be stored yet. */
type Tried = { readonly tier: TriedTier } | { readonly route: TriedRoute };

/**
 * Explains how a request would be routed: with `tried`, or with a model to choose if it is null. `missing` says why `tried` cannot be
 * explained yet.
 */
export function Explain({ tried, missing = null }: { tried: Tried | null; missing?: string | null }) {
  const [question, setQuestion] = useState<Question>({
    api: "chat.completions",
    account: accountOf(tried),
    model: null,
    header: "",
    parameters: "",
  });
  const isAsked = tried === null ? question.model !== null : missing === null;
  const canAsk = isAsked && parseParameters(question.parameters) !== null;
  const rested = useRested(canAsk ? printBody(question, tried) : null);
  const explanation = useLoad(rested, async (signal) => {
    return (await call("POST /api/admin/route/explain", { body: JSON.parse(rested ?? "{}"), signal })).data;
  });
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.routing.explain}</h2>
      </div>
      <div class="card-body stack">
        <p class="quiet">{tried === null ? text.routing.explainAny : text.routing.explainTyped}</p>
        <QuestionFields
          tried={tried}
          question={question}
          onChange={(part) => setQuestion({ ...question, ...part })}
        />
        {canAsk && rested !== null ? (
          <Result {...explanation} />
        ) : (
          <p class="quiet" role="status">
            {isAsked
              ? text.routing.notParameters
              : tried === null
                ? text.routing.chooseModel
                : `${text.routing.missing.explain} ${missing ?? ""}`}
          </p>
        )}
      </div>
    </section>
  );
}

/** Returns the body of the request for an explanation. */
function printBody({ api, account, model, header, parameters }: Question, tried: Tried | null): string {
  const messages = [{ role: "user", content: "Hello" }];
  const content = api === "responses" ? { input: "Hello" } : { messages, max_tokens: 1_000 };
  const name = headerOf(tried);
  return JSON.stringify({
    api,
    ...(account === null ? {} : { account_id: account }),
    ...printTried(tried),
    ...(name === null || header === "" ? {} : { headers: { [name]: header } }),
    request: { ...content, ...parseParameters(parameters), ...(tried === null ? { model } : {}) },
  });
}

/** Parses the further parameters of a request; null if they are not the JSON of an object. */
function parseParameters(json: string): object | null {
  if (json.trim() === "") return {};
  try {
    const value = JSON.parse(json) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Returns the header that a tier chooses by; null if it chooses by something else. */
function headerOf(tried: Tried | null): string | null {
  const rule = tried !== null && "tier" in tried ? tried.tier.rule : null;
  return rule?.by === "header" ? rule.header : null;
}

function printTried(tried: Tried | null): object {
  if (tried === null) return {};
  return "tier" in tried
    ? tried
    : { named_route: { name: tried.route.name, definition: tried.route.definition } };
}

function accountOf(tried: Tried | null): string | null {
  return tried !== null && "route" in tried ? tried.route.account_id : null;
}

function QuestionFields({
  tried,
  question,
  onChange,
}: {
  tried: Tried | null;
  question: Question;
  onChange: (part: Partial<Question>) => void;
}) {
  const name = headerOf(tried);
  return (
    <div class="fields">
      {tried === null ? (
        <Combobox
          label={text.routing.model}
          value={question.model}
          options={optionsOf("models")}
          onOpen={() => loadOptions("models")}
          onChange={(model) => onChange({ model })}
          allowsOther
        />
      ) : null}
      <Select
        label={text.routing.api}
        value={question.api}
        choices={APIS.map((value) => ({ value, label: value }))}
        onChange={(api) => onChange({ api: api as Question["api"] })}
      />
      {isOperator.value ? (
        <AccountPicker
          label={text.routing.account}
          value={question.account}
          onChange={(account) => onChange({ account })}
          showsLabel
        />
      ) : null}
      {name === null ? null : (
        <Field
          label={text.routing.header(name)}
          value={question.header}
          onInput={(header) => onChange({ header })}
        />
      )}
      <Field
        label={text.routing.parameters}
        hint={text.routing.parametersHint}
        error={parseParameters(question.parameters) === null ? text.routing.notParameters : null}
        value={question.parameters}
        onInput={(parameters) => onChange({ parameters })}
      />
    </div>
  );
}

function Result({ data, error, isLoading, reload }: Loaded<RouteExplanation>) {
  if (error !== null) return <ErrorBox error={error} onRetry={reload} />;
  if (data === null) return <Skeleton lines={4} />;
  return (
    <div class={isLoading ? "stack stale" : "stack"}>
      <Explanation explanation={data} />
    </div>
  );
}

/** Returns the last value that has not changed for `REST_MS`. */
function useRested(value: string | null): string | null {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
