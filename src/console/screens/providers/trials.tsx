import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { formatDuration } from "../../parts/values/format.ts";
import { Icon } from "../../parts/values/icon.tsx";
import { toApiError } from "../../state/load.ts";
import { text } from "../../text/text.ts";

const words = text.providers;

/** The outcome of a test call with one key. */
export type KeyTrial =
  Operations["POST /api/admin/config/providers/{provider}/test"]["response"]["data"][number];

/** A test of settings: under way, done, or rejected. */
export type Trial =
  | { readonly kind: "running" }
  | { readonly kind: "done"; readonly keys: readonly KeyTrial[] }
  | { readonly kind: "error"; readonly error: ApiError };

/** A test of settings before they are saved. It is forgotten when they change. */
export interface Trials {
  readonly trial: Trial | null;
  /** Tests settings, and resolves with the outcome. With the id of a key, only its outcome counts. */
  run(slug: string, settings: object | undefined, keyId?: string): Promise<Trial>;
  forget(): void;
}

/** Holds the test of settings. */
export function useTrial(): Trials {
  const [trial, setTrial] = useState<Trial | null>(null);
  return {
    trial,
    forget: () => setTrial(null),
    async run(slug, settings, keyId) {
      setTrial({ kind: "running" });
      const ended = await testSettings(slug, settings);
      const trial = keyId === undefined ? ended : pickKey(ended, `${slug}#${keyId}`);
      setTrial(trial);
      return trial;
    },
  };
}

async function testSettings(slug: string, settings: object | undefined): Promise<Trial> {
  try {
    const { data } = await call("POST /api/admin/config/providers/{provider}/test", {
      params: { provider: slug },
      body: { settings },
    });
    return { kind: "done", keys: data };
  } catch (failure) {
    return { kind: "error", error: toApiError(failure) };
  }
}

/** A key with a new secret has a number after its name: `openai#main.2`. */
function pickKey(trial: Trial, label: string): Trial {
  if (trial.kind !== "done") return trial;
  return { kind: "done", keys: trial.keys.filter(({ key }) => key === label || key.startsWith(`${label}.`)) };
}

function isGood(keys: readonly KeyTrial[]): boolean {
  return keys.length > 0 && keys.every(({ status }) => status === "ok");
}

/** Whether a test has ended, and not all keys work. */
export function hasFailed(trial: Trial | null): boolean {
  return trial?.kind === "error" || (trial?.kind === "done" && !isGood(trial.keys));
}

/**
 * Tests the present settings before they are saved, if they were not tested. Returns the test; null if it fails now, so that
 * its reason is shown first. Who saves again after a failed test saves in spite of it.
 */
export async function testBeforeSaving(
  { trial, run }: Trials,
  slug: string,
  settings: object,
  keyId?: string,
): Promise<Trial | null> {
  if (trial !== null && trial.kind !== "running") return trial;
  const ended = await run(slug, settings, keyId);
  return hasFailed(ended) ? null : ended;
}

/** Returns the model that a test has called; null if none. */
export function modelOf(trial: Trial): string | null {
  return trial.kind === "done" ? (trial.keys[0]?.model ?? null) : null;
}

/** The outcome of a test in words, for each key. */
export function TrialLines({ trial }: { trial: Trial | null }) {
  const box = useRef<HTMLDivElement>(null);
  // In a long form it may be out of view.
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), [trial]);
  return (
    <div ref={box} class="trial">
      <TrialText trial={trial} />
    </div>
  );
}

function TrialText({ trial }: { trial: Trial | null }) {
  if (trial === null) return null;
  if (trial.kind === "error") return <ErrorBox error={trial.error} />;
  if (trial.kind === "running")
    return (
      <p class="check-line quiet" role="status">
        {words.connect.testing}
      </p>
    );
  return (
    <div class="column" role="status">
      {trial.keys.length === 0 ? <p class="bad">{words.results.noKeys}</p> : null}
      {trial.keys.map((one) => (
        <TrialLine key={one.key} trial={one} isNamed={trial.keys.length > 1} />
      ))}
    </div>
  );
}

function TrialLine({ trial, isNamed }: { trial: KeyTrial; isNamed: boolean }) {
  const { key, status, message, model, latency_ms, upstream_status, upstream_message } = trial;
  const isOk = status === "ok";
  const why = status === "refused" && upstream_message ? words.results.refused : message;
  const said = model === null ? words.results.okBare : words.results.ok(model, formatDuration(latency_ms));
  return (
    <div class={isOk ? "check-line good" : "check-line bad"}>
      <Icon name={isOk ? "check" : "alert"} />
      <span class="breaks">
        {isNamed ? `${words.results.key(key.split("#").at(-1) ?? key)}: ` : ""}
        {isOk ? said : why}
        {isOk || !upstream_message
          ? null
          : ` ${words.results.upstreamSaid(String(upstream_status ?? "–"), upstream_message)}`}
      </span>
    </div>
  );
}
