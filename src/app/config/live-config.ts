import type { Config } from "./config-schema.ts";

/**
 * Holds the configuration in force: an immutable value, which a reload replaces as a whole. Parts that need it later read it when they
 * need it; parts that must act on a change subscribe.
 */
export class LiveConfig {
  private readonly listeners = new Set<(config: Config) => void>();
  private pending: readonly string[] = [];

  constructor(private value: Config) {}

  current(): Config {
    return this.value;
  }

  /** The names of settings whose values in the file differ from those in force until the next restart. */
  get awaitingRestart(): readonly string[] {
    return this.pending;
  }

  /** Replaces the configuration, and calls all listeners. */
  replace(value: Config, awaitingRestart: readonly string[]): void {
    this.value = value;
    this.pending = awaitingRestart;
    for (const listener of this.listeners) listener(value);
  }

  /** Calls `listener` after each change of the configuration. Returns a function that cancels the subscription. */
  subscribe(listener: (config: Config) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
