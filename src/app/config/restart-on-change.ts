import type { Timer } from "../../base/time/clock.ts";
import type { Config } from "./config-schema.ts";
import type { LiveConfig } from "./live-config.ts";

/** Runs a task with a setting, and starts it again when a reload has changed that. A task that returns null waits for the next change. */
export function restartOnChange<Value extends string | number | boolean | null>(
  live: LiveConfig,
  read: (config: Config) => Value,
  start: (value: Value) => Timer | null,
): Timer {
  let value = read(live.current());
  let timer = start(value);
  const unsubscribe = live.subscribe((config) => {
    const next = read(config);
    if (next === value) return;
    value = next;
    timer?.cancel();
    timer = start(value);
  });
  return {
    cancel() {
      unsubscribe();
      timer?.cancel();
    },
  };
}
