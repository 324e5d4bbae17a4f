import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { AccountPicker } from "../../parts/account-picker.tsx";
import { Combobox } from "../../parts/combobox.tsx";
import { Field, Select } from "../../parts/field.tsx";
import { ErrorBox, Skeleton } from "../../parts/states.tsx";
import { type Loaded, useLoad } from "../../state/load.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Explanation, type RouteExplanation } from "./explanation.tsx";
import type { TierInput } from "./tier-form.ts";

/** How long typing rests before a request is explained. Milliseconds. */
const REST_MS = 400;
const APIS = ["chat.completions", "responses", "messages"] as const;

interface Question {
  readonly api: (typeof APIS)[number];
  readonly account: string | null;
  readonly model: string | null;
  /** The value of the header that the tier chooses by. */
  readonly header: string;
}

type TriedTier = TierInput & { readonly id: string };

/** Explains how a request would be routed, with a tier as it is typed or with any model. `missing` says what a tier lacks for that. */
export function Explain({ tier, missing = null }: { tier: TriedTier | null; missing?: string | null }) {
  const [question, setQuestion] = useState<Question>({
    api: "chat.completions",
    account: null,
    model: null,
    header: "",
  });
  const canAsk = tier === null ? question.model !== null : missing === null;
  const rested = useRested(canAsk ? printBody(question, tier) : null);
  const explanation = useLoad(rested, async (signal) => {
    return (await call("POST /api/admin/route/explain", { body: JSON.parse(rested ?? "{}"), signal })).data;
  });
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.routing.explain}</h2>
      </div>
      <div class="card-body stack">
        <p class="quiet">{tier === null ? text.routing.explainAny : text.routing.explainTier}</p>
        <QuestionFields
          tier={tier}
          question={question}
          onChange={(part) => setQuestion({ ...question, ...part })}
        />
        {canAsk && rested !== null ? (
          <Result {...explanation} />
        ) : (
          <p class="quiet" role="status">
            {tier === null ? text.routing.chooseModel : `${text.routing.missing.explain} ${missing ?? ""}`}
          </p>
        )}
      </div>
    </section>
  );
}

/** Returns the body of the request for an explanation. */
function printBody({ api, account, model, header }: Question, tier: TriedTier | null): string {
  const messages = [{ role: "user", content: "Hello" }];
  const content = api === "responses" ? { input: "Hello" } : { messages, max_tokens: 1_000 };
  const name = headerOf(tier);
  return JSON.stringify({
    api,
    ...(account === null ? {} : { account_id: account }),
    ...(tier === null ? {} : { tier }),
    ...(name === null || header === "" ? {} : { headers: { [name]: header } }),
    request: { ...(tier === null ? { model } : {}), ...content },
  });
}

/** Returns the header that a tier chooses by; null if it chooses by something else. */
function headerOf(tier: TriedTier | null): string | null {
  return tier?.rule.by === "header" ? tier.rule.header : null;
}

function QuestionFields({
  tier,
  question,
  onChange,
}: {
  tier: TriedTier | null;
  question: Question;
  onChange: (part: Partial<Question>) => void;
}) {
  const name = headerOf(tier);
  return (
    <div class="fields">
      {tier === null ? (
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

/** Returns a value once it has not changed for a while. */
function useRested(value: string | null): string | null {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
