import { nextTurn } from "../../base/time/next-turn.ts";
import type { HttpServer } from "../../http/server/server.ts";
import type { Parts, Platform } from "../start/wire-up.ts";

/** How long the error events of generations that were cancelled have to leave. Milliseconds. */
const LAST_EVENTS_MS = 1_000;
/** The maximum number of turns of the event loop in which cancelled generations end. */
const LAST_TURNS = 100;
/** Connections are taken to have noticed the shutdown once no request has begun or ended for this long. Milliseconds. */
const QUIET_MS = 500;

/** The parts that a shutdown drains, and its time limits. */
interface Drain {
  readonly parts: Pick<Parts, "http">;
  readonly server: HttpServer;
  /** How long running generations may continue. Milliseconds. */
  readonly drainMs: number;
  /** How long requests are still accepted, at most. Milliseconds; 0 if they are not. */
  readonly noticeMs: number;
}

/**
 * Stops a server without breaking connections, and waits until all generations have ended. Requests are answered with
 * `Connection: close` until their clients have gone elsewhere. Then the listener is closed. Generations that run longer than the
 * drain time are cancelled.
 */
export async function drain(task: Drain, { clock, log }: Pick<Platform, "clock" | "log">): Promise<void> {
  const { server, drainMs, parts } = task;
  const {
    running: { active },
  } = parts.http.generation;
  if (active.size > 0) log.info("waiting for open answers", { open: active.size, drain_ms: drainMs });
  parts.http.shutdown.isDraining = true;
  server.retireSockets();
  parts.http.reports.generationFeed.close();
  parts.http.features.shadow.stop();
  const isCut = Promise.withResolvers<void>();
  const cutRest = clock.after(drainMs, () => {
    for (const cancellation of [...active]) cancellation.cancel("shutdown");
    isCut.resolve();
    clock.after(LAST_EVENTS_MS, () => server.kill());
  });
  await untilNoticed(task, clock);
  await server.stop();
  // Background responses have no connections.
  await Promise.race([parts.http.features.responses.jobs.whenAnswered(), isCut.promise]);
  cutRest.cancel();
  // All connections are closed, so the clients of the other generations that still run have left.
  for (const cancellation of [...active]) cancellation.cancel("client_left");
  for (let turn = 0; active.size > 0 && turn < LAST_TURNS; turn++) await nextTurn();
}

/** Resolves once no request has begun or ended for a while and none is in progress, at the latest after `noticeMs`. */
function untilNoticed(
  { parts, server, drainMs, noticeMs }: Drain,
  clock: Pick<Platform["clock"], "after">,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { shutdown } = parts.http;
  const wait = (leftMs: number): void => {
    if (leftMs <= 0) {
      resolve();
      return;
    }
    const stepMs = Math.min(leftMs, QUIET_MS);
    const before = shutdown.answered;
    clock.after(stepMs, () => {
      const isQuiet = shutdown.answered === before && server.inProgress() === 0;
      wait(isQuiet ? 0 : leftMs - stepMs);
    });
  };
  wait(Math.min(noticeMs, drainMs));
  return promise;
}
