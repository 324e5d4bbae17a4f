import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { TextArea } from "../../parts/controls/field.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { Badge, type Tone } from "../../parts/values/badge.tsx";
import { toApiError } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import type { Guardrail } from "./guardrail-list.ts";

type Trial = Operations["POST /api/admin/config/guardrails/try"]["response"]["data"];

const TONES: Readonly<Record<Trial["action"], Tone>> = {
  none: "good",
  block: "bad",
  mask: "accent",
  warn: "warn",
  unchecked: "warn",
  unavailable: "bad",
};

/** A text to try a guardrail on as it is typed, saved or not, and what would happen to a request with it. */
export function TryGuardrail(props: {
  guardrail: Guardrail;
  /** Whether secrets of the guardrail are masked, as those of a file are. Its service cannot be called then. */
  isMasked: boolean;
  onError: (error: ApiError) => void;
}) {
  const { guardrail, isMasked } = props;
  const [typed, setTyped] = useState("");
  const [result, setResult] = useState<{ readonly trial: Trial; readonly text: string } | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    const named = guardrail.name === "" ? { ...guardrail, name: "trial" } : guardrail;
    call("POST /api/admin/config/guardrails/try", { body: { guardrail: named, text: typed } })
      .then(
        ({ data }) => setResult({ trial: data, text: typed }),
        (failure: unknown) => {
          setResult(null);
          setError(toApiError(failure));
          props.onError(toApiError(failure));
        },
      )
      .finally(() => setBusy(false));
  };
  if (isMasked && guardrail.kind === "webhook")
    return (
      <section class="card">
        <div class="card-head">
          <h2>{text.guardrails.try.title}</h2>
        </div>
        <p class="card-body quiet">{text.guardrails.try.masked}</p>
      </section>
    );
  return (
    <section class="card" aria-label={text.guardrails.try.title}>
      <div class="card-head">
        <h2>{text.guardrails.try.title}</h2>
      </div>
      <form class="card-body stack" onSubmit={run}>
        <p class="quiet">{text.guardrails.try.about}</p>
        <TextArea
          label={text.guardrails.try.text}
          rows={6}
          placeholder={text.guardrails.try.placeholder}
          value={typed}
          onInput={setTyped}
        />
        <div>
          <Button icon="play" isSubmit isBusy={isBusy} isDisabled={typed === ""}>
            {text.guardrails.try.run}
          </Button>
        </div>
        {error === null ? null : <ErrorBox error={error} />}
        {result === null ? null : <Result {...result} />}
      </form>
    </section>
  );
}

function Result({ trial, text: tried }: { trial: Trial; text: string }) {
  const { action, kinds, reason, text: sent } = trial;
  const words = text.guardrails.try;
  return (
    <div class="column" role="status">
      <div class="row wrap">
        <Badge tone={TONES[action]}>{words.actions[action]}</Badge>
        {kinds.map((kind) => (
          <code key={kind}>{kind}</code>
        ))}
      </div>
      <p class="quiet">{words.outcomes[action]}</p>
      {reason === null ? null : <p class="breaks">{words.reason(reason)}</p>}
      {action === "mask" && sent !== tried ? (
        <>
          <span class="field-label">{words.sent}</span>
          <pre class="code-text tried-text">{sent}</pre>
        </>
      ) : null}
    </div>
  );
}
