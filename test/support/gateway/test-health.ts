import { createHealth, type Health } from "../../../src/core/routing/health/health.ts";

/** Health that a test can reset, so that earlier requests do not affect it. */
export interface TestHealth {
  readonly health: Health;
  reset(): void;
}

/** Creates the real health tracking, without any observations. */
export function createTestHealth(): TestHealth {
  let current = createHealth();
  return {
    health: {
      endpoint: (provider, model, now) => current.endpoint(provider, model, now),
      describe: (provider, model, now) => current.describe(provider, model, now),
      cooldown: (target, now) => current.cooldown(target, now),
      begin: (target, now) => current.begin(target, now),
      describeProvider: (provider, now) => current.describeProvider(provider, now),
      listOpenCircuits: (provider, now) => current.listOpenCircuits(provider, now),
      listKeyCooldowns: (keyLabel, now) => current.listKeyCooldowns(keyLabel, now),
      forget: (provider, keyLabels) => current.forget(provider, keyLabels),
      record: (target, report, times) => current.record(target, report, times),
    },
    reset() {
      current = createHealth();
    },
  };
}
