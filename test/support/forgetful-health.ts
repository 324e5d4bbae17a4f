import { createHealth, type Health } from "../../src/core/routing/health.ts";

const FRESH = createHealth();

/** Health that nothing sticks to: for tests of one request after the other, which are to know nothing of each other. */
export const FORGETFUL_HEALTH: Health = {
  endpoint: (provider, model, now) => FRESH.endpoint(provider, model, now),
  describe: (provider, model, now) => FRESH.describe(provider, model, now),
  waitMs: () => null,
  begin() {},
  note() {},
};
