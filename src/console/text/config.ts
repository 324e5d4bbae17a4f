/** Texts about the configuration that several screens show. */
export const configText = {
  changedByOthers:
    "Someone else has changed the configuration in the meantime. It was loaded again: check your change, and save once more.",
  setInFile: (place: string) => `Set in ${place}`,
  setBy: (variable: string) => `Set by ${variable}`,
  atGateway: (place: string, gateway: string) => `${place} of ${gateway}`,
  pinnedAbout: "A configuration file or a variable takes precedence. Change the value there.",
  replace: "Replace",
  replaceLabel: (name: string) => `Replace: ${name}`,
  secretHint: "Stored encrypted, and never shown again.",
  noChanges: "Nothing changes.",
  needsRestart: "Takes effect after a restart.",
  none: "none",
  prices: {
    title: "Prices, $ per million tokens",
    prompt: "Prompt",
    completion: "Answer",
    cache_read: "Cache read",
    cache_write: "Cache write",
  },
  badPrice: "Enter dollars, such as 2.50.",
};
