/** What is done with a provider key. */
export type KeyAction = "test" | "change" | "toggle" | "remove";
