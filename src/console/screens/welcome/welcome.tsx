import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "../../api/client.ts";
import { call } from "../../api/client.ts";
import { followGenerations } from "../../api/feed.ts";
import type { GenerationLine } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Snippets } from "../../parts/layout/snippets.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { OutcomeBadge } from "../../parts/values/badge.tsx";
import { Icon } from "../../parts/values/icon.tsx";
import { Code } from "../../parts/values/values.tsx";
import { chooseExampleModel } from "../../state/example-model.ts";
import { finishFirstSteps, hasProvider } from "../../state/first-steps.ts";
import { toApiError, useLoad } from "../../state/load.ts";
import { forgetOptions, loadOptions, optionsOf } from "../../state/names.ts";
import { can, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { AddProvider } from "../providers/add-provider.tsx";

const words = text.welcome;

/** Four steps from a new gateway to its first answer; each ticks itself. */
export default function Welcome() {
  const [secret, setSecret] = useState<string | null>(null);
  const keys = useLoad("keys", (signal) => call("GET /api/admin/keys", { query: { limit: 100 }, signal }));
  const latest = useLatest();
  useEffect(() => {
    loadOptions("models");
    loadOptions("providers");
  }, []);
  const models = optionsOf("models").map(({ value }) => value);
  const model = chooseExampleModel(models);
  const hasKey =
    secret !== null ||
    (keys.data?.data ?? []).some(({ kind, revoked_at }) => kind === "inference" && revoked_at === null);
  const isOpen = hasProvider(models);
  const isDone = hasKey && latest !== null && isOpen;
  useEffect(() => {
    if (isDone) finishFirstSteps();
  }, [isDone]);
  return (
    <Page title={words.title} isNarrow>
      <p class="quiet">{words.intro}</p>
      <ol class="steps">
        <Step number={1} title={words.provider} isDone={isOpen}>
          <Providers isDone={isOpen} modelCount={models.length} />
        </Step>
        <Step number={2} title={words.key} isDone={hasKey}>
          <MakeKey
            secret={secret}
            onMade={(made) => {
              setSecret(made);
              forgetOptions("keys");
            }}
          />
        </Step>
        <Step number={3} title={words.send} isDone={latest !== null}>
          <div class="row wrap">
            <p class="quiet">{words.sendAbout}</p>
            {can("call") ? <a href="/console/playground">{words.sendHere}</a> : null}
          </div>
          <Snippets secret={secret} model={model} />
        </Step>
        <Step number={4} title={words.see} isDone={latest !== null}>
          {latest === null ? (
            <p class="quiet" role="status">
              <span class="live-dot waiting" /> {words.waiting}
            </p>
          ) : (
            <p class="row wrap" role="status">
              <OutcomeBadge outcome={latest.outcome} />
              <span>{latest.model ?? latest.requested_model}</span>
              <a href={`/console/requests/${latest.id}`}>{words.openIt}</a>
              <a href="/console/requests">{words.allRequests}</a>
            </p>
          )}
        </Step>
      </ol>
    </Page>
  );
}

function Step(props: { number: number; title: string; isDone: boolean; children: ComponentChildren }) {
  return (
    <li class={props.isDone ? "step done" : "step"}>
      <span class="step-mark">
        {props.isDone ? <Icon name="check" size={14} /> : props.number}
        <span class="visually-hidden">{props.isDone ? words.done : words.open}</span>
      </span>
      <div class="step-body">
        <h2>{props.title}</h2>
        {props.children}
      </div>
    </li>
  );
}

/** The newest generation: first the recorded one, then those that arrive. */
function useLatest(): GenerationLine | null {
  const [latest, setLatest] = useState<GenerationLine | null>(null);
  useEffect(() => {
    const take = (rows: readonly GenerationLine[]) =>
      setLatest((before) =>
        rows.reduce(
          (newest: GenerationLine | null, row) => (newest === null || row.id >= newest.id ? row : newest),
          before,
        ),
      );
    const read = () =>
      void call("GET /api/admin/generations", { query: { limit: 1 } }).then(
        ({ data }) => take(data),
        // The feed says whether the gateway is reached.
        () => {},
      );
    read();
    return followGenerations({}, { onRows: take, onState: () => {}, onGap: read });
  }, []);
  return latest;
}

function MakeKey({ secret, onMade }: { secret: string | null; onMade: (secret: string) => void }) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    setError(null);
    try {
      const { key } = await call("POST /api/admin/keys", { body: { name: words.keyName } });
      onMade(key);
    } catch (thrown) {
      setError(toApiError(thrown));
    }
    setBusy(false);
  };
  if (secret !== null)
    return (
      <>
        <p class="quiet">{text.keys.shownOnce}</p>
        <Code label={text.keys.secret} value={secret} />
      </>
    );
  if (!can("manage_keys")) return <p class="quiet">{words.askForKey}</p>;
  return (
    <>
      <p class="quiet">{words.keyAbout}</p>
      {error === null ? null : <ErrorBox error={error} />}
      <div class="row">
        <Button kind="primary" icon="key" isBusy={isBusy} onClick={make}>
          {text.keys.make}
        </Button>
      </div>
    </>
  );
}

function Providers({ isDone, modelCount }: { isDone: boolean; modelCount: number }) {
  const [isAdding, setAdding] = useState(false);
  if (!isDone && !isOperator.value) return <p class="quiet">{words.askForProvider}</p>;
  return (
    <>
      <p class="quiet">{isDone ? words.providersDone(modelCount) : words.providerAbout}</p>
      <div class="row">
        {isDone ? null : (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {words.provider}
          </Button>
        )}
      </div>
      {/* Stays open when the step is done. */}
      {isAdding ? <AddProvider onClose={() => setAdding(false)} /> : null}
    </>
  );
}
