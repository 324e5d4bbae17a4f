import { useRef, useState } from "preact/hooks";

/** A part of a bar: its name for the tooltip, its value, and the class that gives its colour. */
interface BarPart {
  readonly name: string;
  readonly value: number;
  readonly tone: "good" | "bad" | "other";
}

/** A bar with its parts from bottom to top. */
export interface Bar {
  readonly title: string;
  readonly parts: readonly BarPart[];
}

interface BarsProps {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly height?: number;
  /** Called with the indexes of the first and last bar of a range that was chosen by dragging or clicking. */
  readonly onChoose?: (first: number, last: number) => void;
}

/** The units of the drawing's width; it is stretched to its container. */
const WIDTH = 1_000;

/** Stacked bars as an SVG that is as wide as its container. */
export function Bars({ label, bars, height = 56, onChoose }: BarsProps) {
  const [range, setRange] = useState<readonly [number, number] | null>(null);
  const start = useRef<number | null>(null);
  const most = Math.max(1, ...bars.map(({ parts }) => sumOf(parts)));
  const width = WIDTH / Math.max(1, bars.length);
  const indexAt = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
    return Math.max(0, Math.min(bars.length - 1, at));
  };
  const follow = (event: PointerEvent) => {
    if (start.current === null) return;
    const at = indexAt(event);
    setRange([Math.min(start.current, at), Math.max(start.current, at)]);
  };
  const choose = () => {
    if (range !== null) onChoose?.(range[0], range[1]);
    start.current = null;
    setRange(null);
  };
  return (
    <svg
      class={onChoose ? "bars choosable" : "bars"}
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${height}`}
      preserveAspectRatio="none"
      style={{ height: `${height}px` }}
      onPointerDown={(event) => {
        if (onChoose === undefined) return;
        start.current = indexAt(event);
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={follow}
      onPointerUp={choose}
    >
      {range === null ? null : (
        <rect
          class="bars-range"
          x={range[0] * width}
          y={0}
          width={(range[1] - range[0] + 1) * width}
          height={height}
        />
      )}
      {bars.map((bar, i) => (
        <OneBar key={bar.title} bar={bar} x={i * width} width={width} scale={height / most} height={height} />
      ))}
    </svg>
  );
}

function sumOf(parts: readonly BarPart[]): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

function OneBar(props: { bar: Bar; x: number; width: number; scale: number; height: number }) {
  const { bar, x, width, scale, height } = props;
  let top = height;
  const gap = Math.min(2, width * 0.2);
  const texts = bar.parts.filter(({ value }) => value > 0).map(({ name, value }) => `${name}: ${value}`);
  return (
    <g class="bar">
      <title>{[bar.title, ...texts].join("\n")}</title>
      <rect class="bar-ground" x={x} y={0} width={width} height={height} />
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
