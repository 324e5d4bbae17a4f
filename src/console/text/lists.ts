/** Texts that the lists and forms of several screens share. */
export const listText = {
  form: "Form",
  json: "JSON",
  more: "Show more",
  save: "Save",
  discard: "Discard changes",
  saved: "Saved",
  unsaved: "Not saved yet",
  organizations: "Organizations",
  users: "Users",
  closed: "Closed",
  deleted: "deleted",
  none: "–",
  patterns: {
    route: "named route",
    matches: (count: number) => (count === 1 ? "matches 1 model" : `matches ${count} models`),
  },
};
