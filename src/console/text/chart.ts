/** Texts of charts and sorted tables. */
export const chartText = {
  view: "View",
  chart: "Chart",
  table: "Table",
  time: "Time",
  about: (title: string) => `Chart of ${title}. The button "Table" shows the same numbers as a table.`,
  running: { day: "Today, so far", hour: "This hour, so far" },
  soFar: "(so far)",
  sortBy: (column: string) => `Sort by ${column}`,
};
