import type { ComponentChildren } from "preact";
import { formatDuration } from "../values/format.ts";

/** A phase of something that took time: when it began, milliseconds from the begin of all, and how long it took. */
export interface Phase {
  readonly name: ComponentChildren;
  readonly key: string;
  readonly startMs: number;
  /** Null while it runs. */
  readonly durationMs: number | null;
  readonly tone: "plain" | "good" | "bad" | "accent";
  /** What is said behind the duration, such as why it failed. */
  readonly detail?: ComponentChildren;
}

/** Phases as bars below each other on one scale of time. */
export function Timeline({ phases, totalMs }: { phases: readonly Phase[]; totalMs: number }) {
  const scale = 100 / Math.max(1, totalMs);
  return (
    <ol class="timeline">
      {phases.map(({ key, name, startMs, durationMs, tone, detail }) => {
        const lengthMs = durationMs ?? Math.max(0, totalMs - startMs);
        const left = Math.min(99.5, startMs * scale);
        return (
          <li key={key} class="timeline-row">
            <span class="timeline-name">{name}</span>
            <span class="timeline-track">
              <span
                class={`timeline-bar ${tone}`}
                style={{
                  left: `${left}%`,
                  width: `${Math.min(100 - left, Math.max(0.3, lengthMs * scale))}%`,
                }}
              />
            </span>
            <span class="timeline-duration">{formatDuration(durationMs)}</span>
            {detail === undefined ? null : <span class={`timeline-detail ${tone}`}>{detail}</span>}
          </li>
        );
      })}
    </ol>
  );
}
