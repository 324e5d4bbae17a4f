import type { TokenCounter } from "../../src/core/generation/memory/token-counter.ts";
import { createTokenCounter } from "../../src/tokenizer/token-counter.ts";
import { createTestClock } from "./test-clock.ts";

/** Global, because a test file may have instances of this module of its own. */
const registry = globalThis as { gatewayTokenCounter?: TokenCounter };

/**
 * A counter for all gateways of the tests of this process, because a thread that counts takes more than a second of processor time to start.
 * Its clock stands still, so that no count is given up on a slow machine.
 */
export const SHARED_TOKEN_COUNTER: TokenCounter = {
  count(texts) {
    registry.gatewayTokenCounter ??= createTokenCounter(createTestClock());
    return registry.gatewayTokenCounter.count(texts);
  },
  close() {},
};
