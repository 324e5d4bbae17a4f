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
import type { LiveConfig } from "../config/live-config.ts";
import { restartOnChange } from "../config/restart-on-change.ts";
import type { JoinedGateways } from "../several/join-gateways.ts";
import type { Stores } from "../stores/stores.ts";
import { createLedgerAlarm } from "../watch/ledger-alarm.ts";
import { announceExpiringKeys } from "../watch/watch-keys.ts";
import { updateErrorRate, updateProviders } from "../watch/watch-providers.ts";
import { keep } from "./build-configured.ts";
import type { LedgerAlarm } from "./telemetry-source.ts";

/** The inputs of events. */
interface EventSource {
  readonly live: LiveConfig;
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

/** The parts that observe the requests that begin under one configuration. */
interface Observation {
  readonly extensions: readonly Extension[];
  readonly observer: Pick<RequestObserver, "onRejected"> | null;
}

/** The events of a gateway, and the webhooks that receive them. */
export interface Events {
  readonly webhooks: WebhookSender;
  /** Returns what observes the requests that begin under a configuration. */
  observe(config: Config): Observation;
  readonly ledgerAlarm: LedgerAlarm;
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

/**
 * Builds what reports events under the configuration in force: an event that no webhook receives has no extension and no timer. Queues,
 * counts and incidents survive a reload.
 */
export function buildEvents(source: EventSource): Events {
  const { live, platform, ids } = source;
  const { clock } = platform;
  const webhooks = new WebhookSender({ ...platform, ids });
  const follow = (config: Config) =>
    webhooks.replace(
      (config.webhooks ?? []).map(({ secret = null, ...webhook }) => ({ ...webhook, secret })),
    );
  follow(live.current());
  live.subscribe(follow);
  const send: EventSink = (event) => webhooks.send(event);
  const countErrors = keep((isWanted: boolean) => (isWanted ? createErrorRate(clock) : null));
  const readErrors = (config: Config) => countErrors(isWanted(config, "errors.rate"));
  return {
    webhooks,
    observe(config) {
      const errors = readErrors(config);
      return { extensions: errors === null ? [] : [errors], observer: errors };
    },
    ledgerAlarm: {
      isWanted: (config) => isWanted(config, "ledger.imbalance"),
      onChecked: createLedgerAlarm(send, clock),
    },
    start: (parts) => startWatching(source, { send, readErrors }, parts),
    stop: () => webhooks.stop(),
  };
}

/** Returns whether a webhook receives one of these types of events. */
function isWanted({ webhooks = [] }: Config, ...types: readonly EventType[]): boolean {
  return webhooks.some(({ events }) => types.some((type) => events.includes(type)));
}

interface Watching {
  readonly send: EventSink;
  /** Returns the counter of failed requests under a configuration; null if no webhook receives their share. */
  readonly readErrors: (config: Config) => ErrorRateCounter | null;
}

function startWatching(source: EventSource, { send, readErrors }: Watching, parts: WatchedParts): Timer {
  const { live, platform, stores, gatewayId, gateways } = source;
  const { clock, log } = platform;
  const incidents = new Incidents({ leases: stores.isShared ? stores.leases : null, owner: gatewayId });
  const every = (ms: number, look: () => Promise<void>, firstMs = ms) =>
    lookEvery({ clock, log, ms, firstMs, look });
  const whileWanted = (types: readonly EventType[], look: () => Promise<void>) =>
    restartOnChange(
      live,
      (config) => isWanted(config, ...types),
      (isOn) => (isOn ? every(LOOK_MS, look) : null),
    );
  const timers = [
    whileWanted(["provider.down", "provider.up"], () =>
      updateProviders({ incidents, send, clock, generation: parts.http.generation }),
    ),
    whileWanted(["errors.rate"], async () => {
      const { alerts } = live.current();
      const errors = readErrors(live.current());
      if (errors !== null) await updateErrorRate({ incidents, send, clock, errors, alerts });
    }),
    // Requests are warned of budgets, also without a webhook.
    every(BUDGETS_MS, async () => {
      await parts.budgetWatch.check({ send, drain: () => parts.http.generation.recorder.drain() });
      if (await gateways.isLeader()) await parts.budgetWatch.merge();
    }),
    restartOnChange(
      live,
      (config) => (isWanted(config, "key.expiring") ? config.alerts.key_expiring_days : null),
      (days) =>
        days === null
          ? null
          : every(
              KEYS_MS,
              () => announceExpiringKeys({ stores, gateways, clock, log, send, days }),
              FIRST_KEYS_MS,
            ),
    ),
  ];
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
  second: Observation["observer"],
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
