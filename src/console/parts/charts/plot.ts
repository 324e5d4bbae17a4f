/** Draws a chart on a canvas with uPlot. Loaded when the first chart is shown. */
import uPlot from "uplot";
import { formatAxisTime, formatDate } from "../values/format.ts";
import { type ChartSeries, DASHES, findMaximum, RUNNING_DASH, roundUp, splitRunning } from "./chart-data.ts";

/** What a plot shows. */
export interface PlotSpec {
  /** Milliseconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Whether times are days: each is the begin of the day with the same date in UTC. */
  readonly isDaily: boolean;
  /** Whether the day or hour of the last time still runs. */
  readonly isRunning: boolean;
  /** Returns the text of a value on the axis. */
  format(value: number): string;
  /** Called with the index of the time under the pointer; null if it left. */
  onPoint(index: number | null): void;
}

/** A drawn plot. */
export interface Plot {
  resize(width: number): void;
  remove(): void;
}

const HEIGHT = 200;
const FONT = "11px system-ui, sans-serif";

/** Draws a plot into an element, in the colours of the theme at that time. */
export function drawPlot(box: HTMLElement, spec: PlotSpec): Plot {
  const color = readColors(box);
  const { times, series, format } = spec;
  const lines = series.flatMap((one) => listLines(one, spec.isRunning));
  const maximum = findMaximum(series);
  const top = roundUp(maximum);
  const range = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const axis = { stroke: color("--text-3"), font: FONT, ticks: { show: false } };
  const grid = { stroke: color("--line"), width: 1 };
  const plot = new uPlot(
    {
      width: Math.max(200, box.clientWidth),
      height: HEIGHT,
      padding: [12, 24, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: false, range: (_, least, most) => [least, Math.max(most, least + 1)] },
        y: { range: () => [0, top] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          space: 72,
          splits: (_, __, least, most, step) => splitTimes(times, { least, most, step }),
          values: (_, splits) => splits.map((at) => printTime(at, range, spec.isDaily)),
        },
        {
          ...axis,
          grid,
          size: 64,
          // Nothing has no scale.
          splits: () => (maximum === 0 ? [0] : [0, top / 4, top / 2, (top * 3) / 4, top]),
          values: (_, splits) => splits.map((value) => format(value)),
        },
      ],
      series: [{}, ...lines.map((line) => toSeries(line, color, times.length))],
      hooks: { setCursor: [(self) => spec.onPoint(self.cursor.idx ?? null)] },
    },
    [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData,
    box,
  );
  return {
    resize: (width) => plot.setSize({ width: Math.max(200, width), height: HEIGHT }),
    remove: () => plot.destroy(),
  };
}

/** A line as it is drawn. */
interface Line extends Pick<ChartSeries, "label" | "style" | "values"> {
  readonly dash: readonly number[];
}

/** Returns the lines of a series: two if its last day or hour still runs. The period before, with style 0, is complete. */
function listLines({ label, style, values }: ChartSeries, isRunning: boolean): readonly Line[] {
  const dash = DASHES[style] ?? [];
  if (!isRunning || style === 0) return [{ label, style, values, dash }];
  const { complete, running } = splitRunning(values);
  return [
    { label, style, values: complete, dash },
    { label, style, values: running, dash: RUNNING_DASH },
  ];
}

function toSeries({ label, style, dash }: Line, color: Colors, points: number): uPlot.Series {
  const stroke = color(style === 0 ? "--text-3" : `--series-${style}`);
  return {
    label,
    stroke,
    width: style === 0 ? 1 : 1.75,
    dash: [...dash],
    spanGaps: false,
    points: { show: points < 3, size: 6, fill: stroke },
    ...(style === 1 ? { fill: color("--series-fill") } : {}),
  };
}

type Colors = (name: string) => string;

/** Returns a function that reads colours of the theme. Custom properties are not resolved before they are used as a colour. */
function readColors(box: HTMLElement): Colors {
  const probe = document.createElement("span");
  return (name) => {
    probe.style.color = `var(${name})`;
    box.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

/** Returns which of the times have a label: each nth, so that labels are `step` apart. */
function splitTimes(
  times: readonly number[],
  { least, most, step }: { readonly least: number; readonly most: number; readonly step: number },
): number[] {
  const shown = times.filter((at) => at >= least && at <= most);
  const each = Math.max(1, Math.ceil((step * shown.length) / Math.max(1, most - least)));
  return shown.filter((_, i) => i % each === 0);
}

function printTime(at: number, range: number, isDaily: boolean): string {
  return isDaily ? formatDate(at) : formatAxisTime(at, range);
}
