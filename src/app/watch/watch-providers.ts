import type { Clock } from "../../base/time/clock.ts";
import { type EventSink, eventId } from "../../core/events/event.ts";
import type { Incidents } from "../../core/events/incidents.ts";
import type { ErrorRateCounter } from "../../core/extensions/error-rate.ts";
import type { GenerationDeps } from "../../core/generation/call/call.ts";
import type { AlertsConfig } from "../config/config-schema.ts";

interface Watch {
  readonly incidents: Incidents;
  readonly send: EventSink;
  readonly clock: Pick<Clock, "now">;
}

/** The dependencies of the watch of providers. */
interface ProviderWatch extends Watch {
  readonly generation: Pick<GenerationDeps, "serving" | "routing">;
}

/** No model has this id, so that the circuit of the provider alone counts. */
const NO_MODEL = "";

/** Reports providers whose circuit has opened or closed. Rejects with a `StoreError` if the store is unavailable. */
export async function updateProviders({ incidents, send, clock, generation }: ProviderWatch): Promise<void> {
  const {
    serving,
    routing: { health },
  } = generation;
  for (const { record } of serving().servedModels.providers) {
    const { slug, name } = record;
    const now = clock.now();
    const report = (type: "provider.down" | "provider.up", text: string) => () =>
      send({ id: eventId(type, slug, now), type, createdAt: now, text, data: { provider: slug } });
    await incidents.update({
      name: `provider-${slug}`,
      isActive: health.endpoint(slug, NO_MODEL, now).state !== "closed",
      onBegin: report("provider.down", `${name} is down: too many requests to it have failed.`),
      onEnd: report("provider.up", `${name} is up again.`),
    });
  }
}

/** The dependencies of the watch of failed requests. */
interface ErrorWatch extends Watch {
  readonly errors: ErrorRateCounter;
  readonly alerts: AlertsConfig;
}

/** Reports that the share of failed requests has reached the threshold. Rejects with a `StoreError` if the store is unavailable. */
export async function updateErrorRate({ incidents, send, clock, errors, alerts }: ErrorWatch): Promise<void> {
  const now = clock.now();
  const { error_share, error_min_requests, error_window_minutes: minutes } = alerts;
  const { failed, total } = errors.read(now, minutes);
  await incidents.update({
    name: "errors-rate",
    isActive: total >= error_min_requests && failed / total >= error_share,
    onBegin: () =>
      send({
        id: eventId("errors.rate", now),
        type: "errors.rate",
        createdAt: now,
        text: `${failed} of ${total} requests have failed in the last ${minutes} minutes.`,
        data: { failed, total, share: failed / total, window_minutes: minutes },
      }),
  });
}
