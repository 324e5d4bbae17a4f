/** Texts of what the command palette finds, and of the help for the keyboard. */
export const paletteText = {
  model: "Model",
  key: "Key",
  account: "Account",
  openId: (id: string) => `Open ${id}`,
  request: "Request",
  help: "Keyboard",
  keys: [
    ["Ctrl K", "Go to a screen, model, key or id"],
    ["?", "Show this help"],
    ["j k", "Next and previous request of the list"],
    ["Enter", "Open the request, or what is chosen"],
    ["Esc", "Close"],
  ] as readonly (readonly [string, string])[],
};
