/** Texts of filter bars. */
export const filterText = {
  filter: "Filter",
  add: "Add a filter",
  addHint: "Add a filter (f)",
  change: (field: string) => `Change the filter ${field}`,
  clear: "Clear filters",
  field: "Filter by",
  operator: "Comparison",
  operators: { is: "is", contains: "contains" },
  type: "Type a value.",
  none: "Nothing matches.",
};
