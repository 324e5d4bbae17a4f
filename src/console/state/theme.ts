import { signal } from "@preact/signals";
import { readStored, store } from "./stored.ts";

/** The themes: `system` follows the setting of the operating system. */
export const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** The chosen theme. */
export const theme = signal<Theme>(THEMES.find((name) => name === readStored("theme")) ?? "system");

/** Chooses a theme and stores the choice in this browser. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  store("theme", chosen === "system" ? null : chosen);
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}
