import { createHealth, type Health } from "../../src/core/routing/health.ts";

/** Health that a test can wipe, so that its requests know nothing of those before. */
export interface TestHealth {
  readonly health: Health;
  forget(): void;
}

/** Real health, empty. */
export function createTestHealth(): TestHealth {
  let current = createHealth();
  return {
    health: {
      endpoint: (provider, model, now) => current.endpoint(provider, model, now),
      describe: (provider, model, now) => current.describe(provider, model, now),
      waitMs: (target, now) => current.waitMs(target, now),
      begin: (target, now) => current.begin(target, now),
      note: (target, note, times, now) => current.note(target, note, times, now),
    },
    forget() {
      current = createHealth();
    },
  };
}
