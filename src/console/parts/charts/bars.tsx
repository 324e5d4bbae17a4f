import { useRef, useState } from "preact/hooks";
import { moveAlong } from "./chart-data.ts";

/** A part of a bar: its name, its value, and the class that gives its colour. */
export interface BarPart {
  readonly name: string;
  readonly value: number;
  readonly tone: "good" | "cached" | "bad" | "other" | "open";
}

/** A bar with its parts from bottom to top. */
export interface Bar {
  readonly title: string;
  readonly parts: readonly BarPart[];
  /** Whether its period still runs, so that it will grow. */
  readonly isRunning?: boolean;
}

interface BarsProps {
  readonly label: string;
  /** Names the cursor, which moves from bar to bar. */
  readonly cursorLabel: string;
  readonly bars: readonly Bar[];
  /** The value at the upper edge. */
  readonly top: number;
  readonly height: number;
  /** The index of the bar under the pointer or the cursor; null for none. */
  readonly at: number | null;
  readonly onPoint: (index: number | null) => void;
  /** Called with the indexes of the first and last bar of a range that was chosen by dragging, clicking, or with the keyboard. */
  readonly onChoose: (first: number, last: number) => void;
}

/** The units of the drawing's width; it is stretched to its container. */
const WIDTH = 1_000;

/** Stacked bars that are as wide as their container, and a cursor over them for pointer and keyboard. */
export function Bars(props: BarsProps) {
  const { label, bars, top, height, at } = props;
  const { range, events } = useRange(props);
  const width = WIDTH / Math.max(1, bars.length);
  const bar = at === null ? undefined : bars[at];
  return (
    <div class="bars" style={{ height: `${height}px` }}>
      <svg role="img" aria-label={label} viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none">
        <line class="bars-grid" x1={0} x2={WIDTH} y1={0.5} y2={0.5} />
        <line class="bars-grid" x1={0} x2={WIDTH} y1={height / 2} y2={height / 2} />
        {at === null ? null : <rect class="bars-at" x={at * width} y={0} width={width} height={height} />}
        {range === null ? null : (
          <rect
            class="bars-range"
            x={range[0] * width}
            y={0}
            width={(range[1] - range[0] + 1) * width}
            height={height}
          />
        )}
        {bars.map((one, i) => (
          <OneBar
            key={one.title}
            bar={one}
            x={i * width}
            width={width}
            scale={height / top}
            height={height}
          />
        ))}
      </svg>
      <div
        class="bars-cursor"
        role="slider"
        tabIndex={0}
        aria-label={props.cursorLabel}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, bars.length - 1)}
        aria-valuenow={at ?? 0}
        aria-valuetext={bar === undefined ? label : printBar(bar)}
        {...events}
      />
    </div>
  );
}

function printBar({ title, parts }: Bar): string {
  const values = parts.filter(({ value }) => value > 0).map(({ name, value }) => `${name} ${value}`);
  return `${title}: ${values.length === 0 ? "0" : values.join(", ")}`;
}

/** The chosen range while it is dragged, or extended with Shift and arrow keys; and the events that move, extend and choose it. */
function useRange({ bars, at, onPoint, onChoose }: BarsProps) {
  const [range, setRange] = useState<readonly [number, number] | null>(null);
  const start = useRef<number | null>(null);
  const extend = (to: number) => {
    const from = start.current ?? to;
    setRange([Math.min(from, to), Math.max(from, to)]);
  };
  const end = () => {
    start.current = null;
    setRange(null);
  };
  const indexAt = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
    return Math.max(0, Math.min(bars.length - 1, index));
  };
  const choose = () => {
    const [first, last] = range ?? [at, at];
    end();
    if (first !== null && last !== null) onChoose(first, last);
  };
  const press = (event: KeyboardEvent) => {
    const next = moveAlong(event.key, at, bars.length);
    if (next !== null) {
      if (event.shiftKey) {
        start.current ??= at ?? next;
        extend(next);
      } else end();
      onPoint(next);
    } else if (event.key === "Enter" && at !== null) choose();
    else if (event.key === "Escape" && range !== null) end();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const events = {
    onKeyDown: press,
    onFocus: () => {
      if (at === null && bars.length > 0) onPoint(bars.length - 1);
    },
    onBlur: () => {
      end();
      onPoint(null);
    },
    onPointerDown: (event: PointerEvent) => {
      start.current = indexAt(event);
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      extend(start.current);
    },
    onPointerMove: (event: PointerEvent) => {
      const index = indexAt(event);
      if (index !== at) onPoint(index);
      if (event.buttons > 0 && start.current !== null) extend(index);
    },
    onPointerLeave: () => onPoint(null),
    onPointerCancel: end,
    onPointerUp: choose,
  };
  return { range, events };
}

function OneBar(props: { bar: Bar; x: number; width: number; scale: number; height: number }) {
  const { bar, x, width, scale, height } = props;
  let top = height;
  const gap = Math.min(2, width * 0.2);
  return (
    <g class={bar.isRunning ? "running" : undefined}>
      {bar.parts.map(({ name, value, tone }) => {
        if (value === 0) return null;
        // One failure among thousands must be seen.
        const size = Math.max(1.5, value * scale);
        top -= size;
        return (
          <rect key={name} class={`bar-${tone}`} x={x + gap / 2} y={top} width={width - gap} height={size} />
        );
      })}
    </g>
  );
}
