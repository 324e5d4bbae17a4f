import type { ApiError } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { formatDuration } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { text } from "../../text/text.ts";

type TrialResult = Operations["POST /api/admin/health/{provider}/test"]["response"]["data"];

/** A test of a provider: under way, done, or rejected by the gateway. */
export type Trial =
  | { readonly kind: "running" }
  | { readonly kind: "done"; readonly result: TrialResult }
  | { readonly kind: "error"; readonly error: ApiError };

/** The result of a test in words. */
export function TrialLine({ name, trial }: { name: string; trial: Trial }) {
  if (trial.kind === "error") return <ErrorBox error={trial.error} />;
  if (trial.kind === "running")
    return (
      <p class="check-line quiet" role="status">
        {text.health.testing(name)}
      </p>
    );
  const { status, message, model, latency_ms, upstream_status, upstream_message } = trial.result;
  const isGood = status === "ok";
  const said = text.health.testOk(model ?? name, formatDuration(latency_ms));
  return (
    <div class={isGood ? "check-line good" : "check-line bad"} role="status">
      <Icon name={isGood ? "check" : "alert"} />
      <span class="breaks">
        {isGood ? said : message}
        {isGood || upstream_message === null
          ? null
          : ` ${text.health.upstreamSaid(String(upstream_status ?? "–"), upstream_message)}`}
      </span>
    </div>
  );
}
