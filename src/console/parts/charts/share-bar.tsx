import { sparklinePath } from "./chart-data.ts";

/** The share of a whole as a bar behind a value. Decorative: the value is in the text beside it. */
export function ShareBar(props: { share: number; style?: number; isReached?: boolean }) {
  const { share, style = 1, isReached = false } = props;
  const width = Math.max(0, Math.min(1, share)) * 100;
  return (
    <svg
      class={`share-bar ${isReached ? "bad" : `series-${style}`}`}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="share-bar-whole" width="100" height="4" />
      <rect width={width.toFixed(2)} height="4" fill="currentColor" />
    </svg>
  );
}

/** A small line of the values of a number over time. Decorative. */
export function Sparkline({
  values,
  width = 72,
  height = 18,
}: {
  values: readonly number[];
  width?: number;
  height?: number;
}) {
  return (
    <svg
      class="series-1"
      width={width}
      height={height + 2}
      viewBox={`0 -1 ${width} ${height + 2}`}
      aria-hidden="true"
    >
      <path d={sparklinePath(values, width, height)} fill="none" stroke="currentColor" stroke-width="1.25" />
    </svg>
  );
}
