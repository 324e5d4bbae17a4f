/** Texts of what the command palette finds, and of the help for the keyboard. */
export const paletteText = {
  title: "Go to",
  placeholder: "Go to a page, model or key, or paste any id",
  none: "Nothing matches.",
  open: "Go to … (Ctrl+K)",
  model: "Model",
  key: "Key",
  account: "Account",
  openId: (id: string) => `Open ${id}`,
  request: "Request",
  help: "Keyboard",
  keys: [
    ["Ctrl K", "Go to a screen, model, key or id"],
    ["?", "Show this help"],
    ["j k", "Next and previous request in the list"],
    ["f", "Add a filter to the list"],
    ["Enter", "Open the request or the selection"],
    ["Esc", "Close"],
  ] as readonly (readonly [string, string])[],
};
