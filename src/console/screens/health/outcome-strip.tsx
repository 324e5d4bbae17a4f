import { useMemo, useState } from "preact/hooks";
import {
  type BarParts,
  describeBucketTime,
  describeCounts,
  divideBar,
  fillBuckets,
  type History,
  type HistoryRow,
} from "./history-rows.ts";

/** The height of a bar and the share of its place that a bar fills, in units of the drawing. */
const HEIGHT = 20;
const BAR_WIDTH = 0.76;

/**
 * The outcomes of a provider as bars, one a bucket: failures from the top, successes from the bottom. The pointer or the arrow keys choose a
 * bucket, whose counts are then shown and read out.
 */
export function OutcomeStrip({ row, history }: { row: HistoryRow; history: History }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const buckets = useMemo(() => fillBuckets(history, row.outcomes), [history, row.outcomes]);
  const last = buckets.length - 1;
  const at = Math.min(chosen ?? last, last);
  const describe = (index: number) => {
    const counts = buckets[index];
    const time = describeBucketTime(history, index);
    return { time, counts: counts === undefined ? "" : describeCounts(counts) };
  };
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    setChosen(
      Math.max(0, Math.min(last, Math.floor(((event.clientX - box.left) / box.width) * buckets.length))),
    );
  };
  const move = (event: KeyboardEvent) => {
    const to = keyTarget(event.key, at, last);
    if (to === null) return;
    event.preventDefault();
    setChosen(to);
  };
  const { time, counts } = describe(at);
  return (
    <div
      class="strip"
      role="slider"
      tabIndex={0}
      aria-label={row.name}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={`${time}: ${counts}`}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => setChosen(null)}
      onFocus={() => setChosen((before) => before ?? last)}
      onBlur={() => setChosen(null)}
      onKeyDown={move}
    >
      <Bars parts={buckets.map(divideBar)} chosen={chosen} />
      {chosen === null ? null : (
        <span class="strip-tip" style={placeTip(at, buckets.length)} aria-hidden="true">
          <strong>{time}</strong> {counts}
        </span>
      )}
    </div>
  );
}

/** Places a tip above or below its bar, within the ends of the strip. */
function placeTip(index: number, count: number): Readonly<Record<string, string>> {
  const percent = (100 * (index + 0.5)) / count;
  return { left: `${percent}%`, transform: `translateX(-${percent}%)` };
}

function keyTarget(key: string, at: number, last: number): number | null {
  if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(0, at - 1);
  if (key === "ArrowRight" || key === "ArrowUp") return Math.min(last, at + 1);
  if (key === "Home") return 0;
  return key === "End" ? last : null;
}

function Bars({ parts, chosen }: { parts: readonly BarParts[]; chosen: number | null }) {
  return (
    <svg viewBox={`0 0 ${parts.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {chosen === null ? null : <rect class="strip-chosen" x={chosen} width={1} height={HEIGHT} />}
      <path class="strip-none" d={drawEmpty(parts)} />
      <path class="strip-good" d={draw(parts, ({ succeeded }) => [0, succeeded])} />
      <path class="strip-warn" d={draw(parts, ({ succeeded, limited }) => [succeeded, limited])} />
      <path class="strip-bad" d={draw(parts, ({ failed }) => [1 - failed, failed])} />
    </svg>
  );
}

/** Draws one part of all bars: `place` returns its bottom and its height as shares of the bar. */
function draw(parts: readonly BarParts[], place: (bar: BarParts) => readonly [number, number]): string {
  return parts
    .map((bar, index) => {
      const [bottom, height] = place(bar);
      return height <= 0 ? "" : drawRect(index, HEIGHT * (1 - bottom - height), HEIGHT * height);
    })
    .join("");
}

/** A bucket without attempts is a line at the bottom. */
function drawEmpty(parts: readonly BarParts[]): string {
  return parts
    .map(({ succeeded, limited, failed }, index) =>
      succeeded + limited + failed === 0 ? drawRect(index, HEIGHT - 2, 2) : "",
    )
    .join("");
}

function drawRect(index: number, y: number, height: number): string {
  const x = index + (1 - BAR_WIDTH) / 2;
  return `M${x.toFixed(2)} ${y.toFixed(2)}h${BAR_WIDTH}v${height.toFixed(2)}h-${BAR_WIDTH}z`;
}
