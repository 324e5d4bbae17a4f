import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { theme } from "../../state/theme.ts";
import { zone } from "../../state/time-zone.ts";
import { text } from "../../text/text.ts";
import { Segments } from "../controls/segments.tsx";
import { formatDate, formatMinute } from "../values/format.ts";
import { ZoneSwitch } from "../values/zone.tsx";
import { type ChartSeries, DASHES, RUNNING_DASH } from "./chart-data.ts";
import type { Plot, PlotSpec } from "./plot.ts";

/** The numbers of a chart over time. */
interface ChartProps {
  readonly title: string;
  /** Shown beside the title, such as a choice of what is drawn. */
  readonly controls?: ComponentChildren;
  /** Milliseconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Whether times are days: each is the begin of the day with the same date in UTC. */
  readonly isDaily: boolean;
  /** Whether the day or hour of the last time still runs. Its values are drawn dashed. */
  readonly isRunning: boolean;
  /** Returns the text of a value. */
  format(value: number): string;
}

/** A chart over time with a legend, and the same numbers as a table behind a switch. */
export function Chart(props: ChartProps) {
  const [view, setView] = useState("chart");
  const [point, setPoint] = useState<number | null>(null);
  return (
    <figure class="chart card">
      <figcaption class="chart-head">
        <h2>{props.title}</h2>
        {props.controls}
        <span class="grow" />
        <ZoneSwitch kind={props.isDaily ? "days" : "times"} />
        <Segments
          label={text.charts.view}
          value={view}
          choices={[
            { value: "chart", label: text.charts.chart },
            { value: "table", label: text.charts.table },
          ]}
          onChange={setView}
        />
      </figcaption>
      {view === "chart" ? (
        <>
          <Legend {...props} point={point} />
          <Canvas {...props} onPoint={setPoint} />
        </>
      ) : (
        <ChartTable {...props} />
      )}
    </figure>
  );
}

function Legend(props: ChartProps & { point: number | null }) {
  const { series, times, point, format, isDaily, isRunning } = props;
  const at = point === null ? undefined : times[point];
  const isLast = point === times.length - 1;
  return (
    <div class="legend">
      {series.map(({ id, label, style, values }) => (
        <span key={id} class="legend-item">
          <LineSample style={style} />
          <span class="cut">{label}</span>
          {point === null ? null : <strong>{printValue(values[point], format)}</strong>}
        </span>
      ))}
      {isRunning ? (
        <span class="legend-note">
          <LineSample style={6} dash={RUNNING_DASH} />
          {text.charts.running[isDaily ? "day" : "hour"]}
        </span>
      ) : null}
      <span class="faint legend-time">
        {at === undefined ? "" : printChartTime(at, isDaily)}
        {isRunning && isLast ? ` ${text.charts.soFar}` : ""}
      </span>
    </div>
  );
}

/** A piece of the line as it is drawn: colour and dash pattern. */
function LineSample({ style, dash = DASHES[style] }: { style: number; dash?: readonly number[] }) {
  return (
    <svg width="22" height="8" aria-hidden="true" class={`series-${style}`}>
      <line
        x1="1"
        x2="21"
        y1="4"
        y2="4"
        stroke="currentColor"
        stroke-width="2"
        stroke-dasharray={dash?.join(" ")}
      />
    </svg>
  );
}

function Canvas({ title, ...spec }: ChartProps & Pick<PlotSpec, "onPoint">) {
  const { times, series, isDaily, isRunning, format, onPoint } = spec;
  const box = useRef<HTMLDivElement>(null);
  const isDark = useIsDark();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let plot: Plot | null = null;
    let isGone = false;
    const observer = new ResizeObserver(() => plot?.resize(element.clientWidth));
    import("./plot.ts").then(({ drawPlot }) => {
      if (isGone) return;
      plot = drawPlot(element, { times, series, isDaily, isRunning, format, onPoint });
      observer.observe(element);
    });
    return () => {
      isGone = true;
      observer.disconnect();
      plot?.remove();
      onPoint(null);
    };
  }, [times, series, isDaily, isRunning, format, theme.value, zone.value, isDark]);
  return <div ref={box} class="chart-canvas" role="img" aria-label={text.charts.about(title)} />;
}

/** Whether the operating system prefers the dark theme; a plot is drawn again when this changes. */
function useIsDark(): boolean {
  const [media] = useState(() => window.matchMedia("(prefers-color-scheme: dark)"));
  const [isDark, setDark] = useState(media.matches);
  useEffect(() => {
    const listener = () => setDark(media.matches);
    media.addEventListener("change", listener);
    return () => media.removeEventListener("change", listener);
  }, [media]);
  return isDark;
}

function ChartTable({ title, times, series, format, isDaily, isRunning }: ChartProps) {
  return (
    <section class="table-box chart-table" tabIndex={0} aria-label={title}>
      <table class="table">
        <thead>
          <tr>
            <th>{text.charts.time}</th>
            {series.map(({ id, label }) => (
              <th key={id} class="number" title={label}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at, i) => (
            <tr key={at}>
              <td>
                {printChartTime(at, isDaily)}
                {isRunning && i === times.length - 1 ? ` ${text.charts.soFar}` : ""}
              </td>
              {series.map(({ id, values }) => (
                <td key={id} class="number">
                  {printValue(values[i], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function printValue(value: number | null | undefined, format: ChartProps["format"]): string {
  return value === null || value === undefined ? "–" : format(value);
}

function printChartTime(at: number, isDaily: boolean): string {
  return isDaily ? formatDate(at) : formatMinute(at);
}
