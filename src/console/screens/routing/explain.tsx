import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { AccountPicker } from "../../parts/account-picker.tsx";
import { Combobox } from "../../parts/combobox.tsx";
import { Field, Select } from "../../parts/field.tsx";
import { ErrorBox, Skeleton } from "../../parts/states.tsx";
import { useLoad } from "../../state/load.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { isOperator } from "../../state/session.ts";
import { routingText } from "../../text/routing.ts";
import { Explanation } from "./explanation.tsx";
import type { TierInput } from "./tier-form.ts";

/** How long typing rests before a request is explained. Milliseconds. */
const REST_MS = 400;
const APIS = ["chat.completions", "responses", "messages"] as const;

/** Explains how a request would be routed, with a tier as it is typed or with any model. */
export function Explain({ tier }: { tier: (TierInput & { id: string }) | null }) {
  const [api, setApi] = useState<(typeof APIS)[number]>("chat.completions");
  const [account, setAccount] = useState<string | null>(null);
  const [model, setModel] = useState<string | null>(null);
  const [header, setHeader] = useState("");
  const name = tier?.rule.by === "header" ? tier.rule.header : null;
  const messages = [{ role: "user", content: "Hello" }];
  const content = api === "responses" ? { input: "Hello" } : { messages, max_tokens: 1_000 };
  const body = JSON.stringify({
    api,
    ...(account === null ? {} : { account_id: account }),
    ...(tier === null ? {} : { tier }),
    ...(name === null || header === "" ? {} : { headers: { [name]: header } }),
    request: { ...(tier === null ? { model } : {}), ...content },
  });
  const rested = useRested(tier === null && model === null ? null : body);
  const { data, error, isLoading, reload } = useLoad(rested, async (signal) => {
    return (await call("POST /api/admin/route/explain", { body: JSON.parse(body), signal })).data;
  });
  return (
    <section class="card">
      <div class="card-head">
        <h2>{routingText.explain}</h2>
      </div>
      <div class="card-body stack">
        <p class="quiet">{tier === null ? routingText.explainAny : routingText.explainTier}</p>
        <div class="fields">
          {tier === null ? (
            <Combobox
              label={routingText.model}
              value={model}
              options={optionsOf("models")}
              onOpen={() => loadOptions("models")}
              onChange={setModel}
              allowsOther
            />
          ) : null}
          <Select
            label={routingText.api}
            value={api}
            choices={APIS.map((value) => ({ value, label: value }))}
            onChange={(value) => setApi(value as (typeof APIS)[number])}
          />
          {isOperator.value ? (
            <AccountPicker label={routingText.account} value={account} onChange={setAccount} showsLabel />
          ) : null}
          {name === null ? null : (
            <Field label={routingText.header(name)} value={header} onInput={setHeader} />
          )}
        </div>
        {rested === null ? (
          <p class="quiet">{routingText.chooseModel}</p>
        ) : error !== null ? (
          <ErrorBox error={error} onRetry={reload} />
        ) : data === null ? (
          <Skeleton lines={4} />
        ) : (
          <div class={isLoading ? "stack stale" : "stack"}>
            <Explanation explanation={data} />
          </div>
        )}
      </div>
    </section>
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
