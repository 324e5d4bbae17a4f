import { Button } from "../../parts/controls/button.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { formatCount, formatDuration } from "../../parts/values/format.ts";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";

/** The outcome of a test call. Only tests of an account's keys list the models. */
interface Trial {
  readonly status: "ok" | "refused" | "out_of_reach";
  readonly message: string;
  readonly model: string | null;
  readonly latency_ms: number | null;
  readonly upstream_status: number | null;
  readonly upstream_message: string | null;
  readonly models?: readonly string[];
}

/** The maximum number of models that are named. */
const NAMED = 12;

/** Tests a key when it appears, and shows the result in words. */
export function TestDialog(props: { name: string; run: () => Promise<Trial>; onClose: () => void }) {
  const { data, error, isLoading, reload } = useLoad("test", props.run);
  return (
    <Dialog
      title={text.providerKeys.testTitle(props.name)}
      onClose={props.onClose}
      foot={<Button onClick={props.onClose}>{text.providerKeys.close}</Button>}
    >
      {isLoading ? (
        <>
          <p class="quiet">{text.providerKeys.testing}</p>
          <Skeleton lines={3} />
        </>
      ) : error !== null ? (
        <ErrorBox error={error} onRetry={reload} />
      ) : data === null ? null : (
        <Result {...data} />
      )}
    </Dialog>
  );
}

function Result(trial: Trial) {
  const { status, message, model, models } = trial;
  const facts: readonly (readonly [string, string | null])[] = [
    [text.providerKeys.upstream, trial.upstream_message],
    [text.providerKeys.upstreamStatus, trial.upstream_status?.toString() ?? null],
    [text.providerKeys.latency, trial.latency_ms === null ? null : formatDuration(trial.latency_ms)],
    [text.providerKeys.model, model],
  ];
  return (
    <>
      <div class="row">
        <Badge tone={status === "ok" ? "good" : "bad"}>{text.providerKeys.results[status]}</Badge>
      </div>
      <p>{message}</p>
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
        )}
      </dl>
      {models === undefined || models.length === 0 ? null : <Models models={models} />}
    </>
  );
}

function Models({ models }: { models: readonly string[] }) {
  return (
    <div class="column">
      <h3>{text.providerKeys.opens(formatCount(models.length))}</h3>
      <ul class="mono">
        {models.slice(0, NAMED).map((id) => (
          <li key={id}>
            <a href={`/console/models/${id}`}>{id}</a>
          </li>
        ))}
      </ul>
      {models.length > NAMED ? (
        <p class="faint">{text.providerKeys.moreModels(formatCount(models.length - NAMED))}</p>
      ) : null}
    </div>
  );
}
