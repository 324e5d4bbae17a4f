import { detailOf } from "../../../base/failures/errors.ts";
import type { Timer } from "../../../base/time/clock.ts";
import type { GenerationResult } from "../../generation/call/call.ts";
import { findResponse } from "../chains/read-objects.ts";
import type { KeepDeps } from "../keep/keep-deps.ts";
import type { KeptResponse } from "../keep/kept-response.ts";
import { type ObjectHead, type ObjectOwner, RUNNING, type StoredObject } from "../records/response-object.ts";
import { requireBackground, waitForEnd } from "./cancelling.ts";
import { endReleased, failLost } from "./fail-lost.ts";
import { type FollowDeps, type Following, followEvents } from "./read-events.ts";
import { ResponseJob } from "./response-job.ts";

/** How often a gateway that runs jobs looks for requests to cancel them. Milliseconds. */
const CANCEL_POLL_MS = 1_000;
/** How long a cancel waits for the gateway that runs the response. Milliseconds. */
const CANCEL_WAIT_MS = 10_000;

/** The background responses of this gateway, and what callers do with those of any gateway. */
export class ResponseJobs {
  private readonly running = new Map<string, ResponseJob>();
  private readonly ends = new Set<Promise<void>>();
  /** Readers of this gateway that wait for events, by response. */
  private readonly waiting = new Map<string, Set<() => void>>();
  private timer: Timer | null = null;
  /** The gateways that the last look for lost responses has missed. */
  private missed: ReadonlySet<string> = new Set();

  constructor(private readonly deps: KeepDeps) {}

  /** Prepares a job for a response. Its signal stands for the client of its generation. */
  prepare(response: KeptResponse): ResponseJob {
    const { backgroundMs: longestMs } = this.deps.settings();
    return new ResponseJob({ ...this.deps, longestMs, onWritten: (id) => this.wake(id) }, response);
  }

  /** Lets a job run that was accepted. */
  start(
    job: ResponseJob,
    begun: StoredObject,
    seal: Parameters<ResponseJob["run"]>[1],
    generating: Promise<GenerationResult>,
  ): void {
    const { id } = begun;
    this.running.set(id, job);
    const end = job
      .run(begun, seal, generating)
      .catch((error) => {
        const detail = detailOf(error);
        this.deps.log.warn("a background response has broken off", { generation_id: id, detail });
      })
      .finally(() => {
        this.running.delete(id);
        this.ends.delete(end);
        this.stopPolling();
      });
    this.ends.add(end);
    this.timer ??= this.deps.clock.every(CANCEL_POLL_MS, () => void this.pollStored());
  }

  /** Resolves when no job of this gateway waits for its provider any more. */
  async whenAnswered(): Promise<void> {
    await Promise.all([...this.running.values()].map((job) => job.answered));
  }

  /** Resolves when the ends of all jobs of this gateway are stored. */
  async drain(): Promise<void> {
    await Promise.all(this.ends);
  }

  /**
   * Cancels a background response, and waits a short time for its end. One that has ended stays as it is.
   * @throws GatewayError `not_found`; `invalid_request` for a response that is not in the background; StoreError.
   */
  async cancel(caller: ObjectOwner, id: string): Promise<ObjectHead> {
    const found = await findResponse(this.deps, caller, id);
    requireBackground(found, "response_id");
    if (!RUNNING.includes(found.status)) return found;
    await this.deps.store.requestCancel(id);
    this.running.get(id)?.cancel();
    return waitForEnd(this.deps.clock, {
      longestMs: CANCEL_WAIT_MS,
      find: () => findResponse(this.deps, caller, id),
      pause: () => this.waitForEvents(id, CANCEL_POLL_MS),
    });
  }

  /** Follows the events of a response as `followEvents`. */
  follow(following: Following): AsyncGenerator<string> {
    const deps: FollowDeps = { ...this.deps, waitForEvents: (id, ms) => this.waitForEvents(id, ms) };
    return followEvents(deps, following);
  }

  /** Ends the responses that this gateway was making when its process ended. */
  failOwn(): Promise<number> {
    return failLost(this.deps, this.deps.gatewayId);
  }

  /**
   * Ends the responses of gateways that are gone, those that a former call has released, and those of a restored backup. `live` are the
   * gateways that are there. One counts as gone if two consecutive calls have missed it: when a database is back after an outage, gateways
   * need a moment to say that they are there. Rejects with a `StoreError`.
   */
  async failLost(live: ReadonlySet<string>): Promise<void> {
    const { store, gatewayId } = this.deps;
    const missed = (await store.listRunningGateways()).filter((id) => id !== gatewayId && !live.has(id));
    const gone = missed.filter((id) => this.missed.has(id));
    this.missed = new Set(missed);
    for (const id of gone) await store.releaseRunning(id);
    await endReleased(this.deps);
  }

  /** Cancels jobs for which that was requested, and leaves those that other gateways have ended. */
  private async pollStored(): Promise<void> {
    const { store, gatewayId } = this.deps;
    const jobs = [...this.running];
    // If the store is unavailable, the next poll finds them.
    const stored = await store.listRunning(gatewayId).catch(() => null);
    if (stored === null) return;
    const found = new Map(stored.map((response) => [response.id, response]));
    for (const [id, job] of jobs) {
      const response = found.get(id);
      if (response === undefined) job.abandon();
      else if (response.isCancelRequested) job.cancel();
    }
  }

  private stopPolling(): void {
    if (this.running.size > 0) return;
    this.timer?.cancel();
    this.timer = null;
  }

  private wake(id: string): void {
    for (const resolve of this.waiting.get(id) ?? []) resolve();
  }

  private async waitForEvents(id: string, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.waiting.get(id) ?? new Set<() => void>();
    this.waiting.set(id, waiting.add(resolve));
    const timer = this.deps.clock.after(ms, resolve);
    await promise;
    timer.cancel();
    waiting.delete(resolve);
    if (waiting.size === 0) this.waiting.delete(id);
  }
}
