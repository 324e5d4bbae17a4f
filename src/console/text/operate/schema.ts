/** Texts of forms that are generated from a schema. */
export const schemaText = {
  notSet: "Not set",
  yes: "Yes",
  no: "No",
  noLimit: "none",
  onePerLine: "One per line.",
  notJson: (problem: string) => `This is not valid JSON: ${problem}`,
  add: "Add",
  entryName: "Name",
  nameOfEntry: (label: string) => `${label}: name of a new entry`,
  removeLabel: (name: string) => `Remove ${name}`,
  moveUp: (name: string) => `Move ${name} up`,
  item: (label: string, number: number) => `${label} ${number}`,
  kindOf: (label: string) => `Kind of ${label}`,
};
