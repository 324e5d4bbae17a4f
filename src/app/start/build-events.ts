import type { Log } from "../../base/failures/log.ts";
import type { IdSource } from "../../base/secrets/ids.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time/time.ts";
import type { EventSink, EventType } from "../../core/events/event.ts";
import { Incidents } from "../../core/events/incidents.ts";
import type { BudgetWatch } from "../../core/extensions/budgets/budget-watch.ts";
import { createErrorRate, type ErrorRateCounter } from "../../core/extensions/error-rate.ts";
import type { Extension } from "../../core/generation/call/extension.ts";
import type { RequestObserver } from "../../core/telemetry/request-observer.ts";
import type { HttpDeps } from "../../http/context/context.ts";
import { WebhookSender } from "../../telemetry/webhooks/webhook-sender.ts";
import type { Config } from "../config/config-schema.ts";
import type { JoinedGateways } from "../several/join-gateways.ts";
import type { Stores } from "../stores/stores.ts";
import { createLedgerAlarm } from "../watch/ledger-alarm.ts";
import { announceExpiringKeys } from "../watch/watch-keys.ts";
import { updateErrorRate, updateProviders } from "../watch/watch-providers.ts";

/** The inputs of events. */
interface EventSource {
  readonly config: Config;
  readonly platform: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
  };
  readonly ids: IdSource;
  readonly stores: Stores;
  readonly gatewayId: string;
  readonly gateways: Pick<JoinedGateways, "isLeader">;
}

/** The parts of a running gateway that events report about. `http` has the dependencies of a request that begins now. */
interface WatchedParts {
  readonly http: Pick<HttpDeps, "generation">;
  readonly budgetWatch: BudgetWatch;
}

/** The events of a gateway, and the webhooks that receive them. */
export interface Events {
  readonly webhooks: WebhookSender;
  readonly extensions: readonly Extension[];
  readonly observer: Pick<RequestObserver, "onRejected"> | null;
  readonly onLedgerChecked: ((differences: number) => void) | null;
  /** Starts what looks for events at intervals. */
  start(parts: WatchedParts): Timer;
  /** Sends what waits once more. */
  stop(): Promise<void>;
}

/** How often states are compared with their last ones. Milliseconds. */
const LOOK_MS = 5 * SECOND_MS;
/** How often costs are compared with budgets. Milliseconds. */
const BUDGETS_MS = 2 * SECOND_MS;
/** How often expiring keys are looked for, and how long after a start first. Milliseconds. */
const KEYS_MS = HOUR_MS;
const FIRST_KEYS_MS = MINUTE_MS;

/** Builds what is wanted: an event that no webhook receives has no extension and no timer. */
export function buildEvents(source: EventSource): Events {
  const { config, platform, ids } = source;
  const configured = config.webhooks ?? [];
  const webhooks = new WebhookSender({
    ...platform,
    ids,
    webhooks: configured.map(({ secret = null, ...webhook }) => ({ ...webhook, secret })),
  });
  const wanted = new Set(configured.flatMap(({ events }) => events));
  const send: EventSink = (event) => webhooks.send(event);
  const errors = wanted.has("errors.rate")
    ? createErrorRate(platform.clock, config.alerts.error_window_minutes * MINUTE_MS)
    : null;
  return {
    webhooks,
    extensions: errors === null ? [] : [errors],
    observer: errors,
    onLedgerChecked: wanted.has("ledger.imbalance") ? createLedgerAlarm(send, platform.clock) : null,
    start: (parts) => startWatching(source, { wanted, send, errors }, parts),
    stop: () => webhooks.stop(),
  };
}

interface Watching {
  readonly wanted: ReadonlySet<EventType>;
  readonly send: EventSink;
  readonly errors: ErrorRateCounter | null;
}

function startWatching(source: EventSource, watching: Watching, parts: WatchedParts): Timer {
  const { config, platform, stores, gatewayId, gateways } = source;
  const { clock, log } = platform;
  const { wanted, send, errors } = watching;
  const incidents = new Incidents({ leases: stores.isShared ? stores.leases : null, owner: gatewayId });
  const timers: Timer[] = [];
  const every = (ms: number, look: () => Promise<void>, firstMs = ms) =>
    timers.push(lookEvery({ clock, log, ms, firstMs, look }));
  if (wanted.has("provider.down") || wanted.has("provider.up"))
    every(LOOK_MS, () => updateProviders({ incidents, send, clock, generation: parts.http.generation }));
  // Requests are warned of budgets, also without a webhook.
  every(BUDGETS_MS, async () => {
    await parts.budgetWatch.check({ send, drain: () => parts.http.generation.recorder.drain() });
    if (await gateways.isLeader()) await parts.budgetWatch.merge();
  });
  if (errors !== null)
    every(LOOK_MS, () => updateErrorRate({ incidents, send, clock, errors, alerts: config.alerts }));
  if (wanted.has("key.expiring")) {
    const announce = () =>
      announceExpiringKeys({ stores, gateways, clock, log, send, days: config.alerts.key_expiring_days });
    every(KEYS_MS, announce, FIRST_KEYS_MS);
  }
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

interface Look {
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  readonly ms: number;
  /** The delay of the first look. Milliseconds. */
  readonly firstMs: number;
  readonly look: () => Promise<void>;
}

/** Looks at intervals, and never again before the last look has ended. */
function lookEvery({ clock, log, ms, firstMs, look }: Look): Timer {
  let isOver = false;
  const wait = (delayMs: number): Timer =>
    clock.after(delayMs, async () => {
      await look().catch((error: unknown) => {
        log.warn("the check for events failed; it is repeated later", {
          detail: String(error),
        });
      });
      if (!isOver) timer = wait(ms);
    });
  let timer = wait(firstMs);
  return {
    cancel() {
      isOver = true;
      timer.cancel();
    },
  };
}

/** Returns an observer that notifies two others. */
export function joinObservers(
  first: RequestObserver | null,
  second: Events["observer"],
): RequestObserver | null {
  if (second === null) return first;
  return {
    onAnswered: (api, addedMs) => first?.onAnswered(api, addedMs),
    onRefused: (failure) => first?.onRefused(failure),
    onRejected(request, failure, durationMs) {
      first?.onRejected(request, failure, durationMs);
      second.onRejected(request, failure, durationMs);
    },
  };
}
