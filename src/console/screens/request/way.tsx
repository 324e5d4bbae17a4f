import type { GenerationDetails } from "../../api/schema.ts";
import { type Phase, Timeline } from "../../parts/charts/timeline.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { formatDuration } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";

const words = text.request;

/** Every attempt on one scale of time, from the request to the end of the answer. */
export function Way({ generation }: { generation: GenerationDetails }) {
  const { attempts, duration } = generation;
  const totalMs = duration ?? Math.max(1, Date.now() - Date.parse(generation.created_at));
  const failed = attempts.filter(({ error_type }) => error_type !== null).length;
  return (
    <Section
      id="way"
      title={words.way}
      summary={failed === 0 ? words.attempts(attempts.length) : words.failedAttempts(failed, attempts.length)}
    >
      <Timeline phases={listPhases(generation)} totalMs={totalMs} />
    </Section>
  );
}

const TONES: Readonly<Record<GenerationDetails["attempts"][number]["result"], Phase["tone"]>> = {
  answered: "good",
  empty: "bad",
  failed: "bad",
  cancelled: "plain",
  running: "plain",
};

/** Returns how a request ended that called no provider. */
function describeEnd({ outcome, error_type }: GenerationDetails): Pick<Phase, "tone" | "detail"> {
  if (outcome === "cached") return { tone: "good", detail: words.cachedAnswer };
  return { tone: outcome === "completed" ? "good" : "bad", detail: error_type ?? words.noAttempt };
}

function listPhases(generation: GenerationDetails): readonly Phase[] {
  const begin = Date.parse(generation.created_at);
  const since = (at: string) => Date.parse(at) - begin;
  const [first] = generation.attempts;
  const { first_token_at, finished_at } = generation;
  const phases: Phase[] = [
    {
      key: "checks",
      name: words.checks,
      startMs: 0,
      durationMs: first === undefined ? generation.duration : since(first.started_at),
      ...(first === undefined ? describeEnd(generation) : { tone: "plain" }),
    },
  ];
  for (const [i, attempt] of generation.attempts.entries()) {
    const { error_type, provider_name, upstream_model, key, key_number, result } = attempt;
    phases.push({
      key: `attempt-${i}`,
      name: (
        <span title={upstream_model}>
          {provider_name}
          {key_number === null ? null : (
            <span class="faint" title={key ?? undefined}>
              {" "}
              · {words.keyNumber(key_number)}
            </span>
          )}
          {attempt.is_byok ? <span class="faint"> · {words.byok}</span> : null}
        </span>
      ),
      startMs: since(attempt.started_at),
      durationMs: attempt.duration_ms,
      tone: TONES[result],
      ...(error_type === null ? {} : { detail: <Failure attempt={attempt} errorType={error_type} /> }),
    });
  }
  if (first_token_at !== null)
    phases.push({
      key: "answer",
      name: words.answer,
      startMs: since(first_token_at),
      durationMs: finished_at === null ? null : Date.parse(finished_at) - Date.parse(first_token_at),
      tone: "accent",
      detail: words.firstTokenAfter(formatDuration(since(first_token_at))),
    });
  return phases;
}

/** Why an attempt failed, with the provider's own words. */
function Failure({
  attempt,
  errorType,
}: {
  attempt: GenerationDetails["attempts"][number];
  errorType: string;
}) {
  const { upstream_status, upstream_code, upstream_message } = attempt;
  return (
    <>
      {upstream_status ?? words.noStatus}
      {upstream_code === null ? "" : ` ${upstream_code}`} · {explain(errorType)}
      {upstream_message === null ? null : <q class="upstream-words">{upstream_message}</q>}
    </>
  );
}

function explain(error: string): string {
  return text.errorTypes[error as keyof typeof text.errorTypes] ?? error;
}
