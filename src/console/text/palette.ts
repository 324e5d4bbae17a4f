/** Texts of the command palette and of the help for the keyboard. */
export const paletteText = {
  title: "Go to",
  placeholder: "Screen, model, key, or any id",
  none: "Nothing matches.",
  screen: "Screen",
  model: "Model",
  key: "Key",
  account: "Account",
  openId: (id: string) => `Open ${id}`,
  request: "Request",
  open: "Search (Ctrl K)",
  help: "Keyboard",
  keys: [
    ["Ctrl K", "Go to a screen, model, key or id"],
    ["?", "Show this help"],
    ["j k", "Next and previous request of the list"],
    ["Enter", "Open the request, or what is chosen"],
    ["Esc", "Close"],
  ] as readonly (readonly [string, string])[],
};
