import type { Summary } from "./results.ts";

/** One row of a chart. */
export interface ChartRow {
  readonly label: string;
  readonly summary: Summary;
  /** Drawn in the color that stands for this gateway. */
  readonly isOurs: boolean;
}

const WIDTH = 760;
const LABEL_WIDTH = 170;
const VALUE_WIDTH = 90;
const ROW_HEIGHT = 26;
const TOP = 56;
const BOTTOM = 16;
const PLOT_WIDTH = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
const OURS = "#0b6e4f";
const OTHERS = "#5b6770";

/**
 * Returns an SVG picture with a row for each variant: a dot for the median and a line from the lowest to the highest round, on a
 * logarithmic axis, because variants differ by three orders of magnitude. Values are positive.
 */
export function drawChart(title: string, rows: readonly ChartRow[]): string {
  const values = rows.flatMap(({ summary }) => [summary.lowest, summary.highest]);
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const place = (value: number) => LABEL_WIDTH + (PLOT_WIDTH * (Math.log10(value) - low)) / (high - low);
  const height = TOP + rows.length * ROW_HEIGHT + BOTTOM;
  const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="22" font-weight="600" fill="#1c2429">${escapeXml(title)}</text>`,
    ...decades.map((value) => drawDecade(value, place(value), height)),
    ...rows.map((row, i) => drawRow(row, TOP + (i + 0.5) * ROW_HEIGHT, place)),
    "</svg>\n",
  ].join("\n");
}

function drawDecade(value: number, x: number, height: number): string {
  const at = x.toFixed(1);
  const label = value.toLocaleString("en-US", { maximumFractionDigits: 3 });
  return (
    `<line x1="${at}" x2="${at}" y1="${TOP - 6}" y2="${height - BOTTOM}" stroke="#dde2e5"/>` +
    `<text x="${at}" y="${TOP - 12}" text-anchor="middle" fill="#5b6770" font-size="11">${label}</text>`
  );
}

function drawRow({ label, summary, isOurs }: ChartRow, y: number, place: (value: number) => number): string {
  const color = isOurs ? OURS : OTHERS;
  const weight = isOurs ? ' font-weight="600"' : "";
  const [from, middle, to] = [summary.lowest, summary.median, summary.highest].map((value) =>
    place(value).toFixed(1),
  );
  const text = summary.median.toLocaleString("en-US", { maximumSignificantDigits: 3 });
  const baseline = (y + 4.5).toFixed(1);
  return (
    `<text x="${LABEL_WIDTH - 12}" y="${baseline}" text-anchor="end" fill="#1c2429"${weight}>${escapeXml(label)}</text>` +
    `<line x1="${from}" x2="${to}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="3"/>` +
    `<circle cx="${middle}" cy="${y}" r="5.5" fill="${color}"/>` +
    `<text x="${WIDTH - 12}" y="${baseline}" text-anchor="end" fill="#1c2429"${weight}>${text}</text>`
  );
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
