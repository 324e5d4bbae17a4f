/** Texts of charts and sorted tables. */
export const chartText = {
  view: "View",
  chart: "Chart",
  table: "Table",
  time: "Time",
  about: (title: string) => `Chart of ${title}. The button "Table" shows the same numbers as a table.`,
  sortBy: (column: string) => `Sort by ${column}`,
};
