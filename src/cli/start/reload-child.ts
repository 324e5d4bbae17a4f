import { ConfigError } from "../../app/config/config-error.ts";
import type {
  FromProcess,
  ReloadAnswer,
  ReloadOutcome,
  ReloadStep,
  ToProcess,
} from "../../app/processes/messages.ts";
import { Questions } from "../../app/processes/questions.ts";
import type { RunningGateway } from "../../app/run/lifecycle.ts";
import type { PreparedReload } from "../../app/start/config-reloader.ts";
import { fail } from "../../base/failures/errors.ts";
import type { Log } from "../../base/failures/log.ts";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import type { ConfigReload, ReloadOptions } from "../../core/settings/config-reload.ts";
import { logReload, recordReload } from "./reload-on-signal.ts";

/** The longest wait for the supervisor, which waits for all processes. Milliseconds. */
const OUTCOME_MS = 100_000;

/** The part of one process in reloads of the configuration of all processes. */
export class ChildReloads {
  private prepared: PreparedReload | null = null;
  private readonly outcomes: Questions<ReloadOutcome>;

  constructor(
    clock: Clock,
    private readonly send: (message: FromProcess) => void,
  ) {
    this.outcomes = new Questions(clock, OUTCOME_MS);
  }

  /**
   * Asks the supervisor to reload all processes. If none has reloaded, rejects with a `ConfigError` with all problems of the configuration,
   * as with one process, or with a `GatewayError` for another reason.
   */
  async reloadAll(options: ReloadOptions): Promise<ConfigReload> {
    const outcome = await this.outcomes.ask((id) => this.send({ kind: "reloadWanted", id, options }));
    if (outcome?.kind === "reloaded") return outcome.reload;
    if (outcome?.rejection.problems !== undefined) throw new ConfigError(outcome.rejection.problems);
    const reason = outcome?.rejection.message ?? "The first process has not answered in time.";
    return fail("conflict", `The configuration was not reloaded.\n${reason}`);
  }

  /** Handles messages of the supervisor about reloads. */
  async take(message: ToProcess, gateway: RunningGateway, log: Log): Promise<void> {
    if (message.kind === "reloadOutcome") this.outcomes.answer(message.id, message.outcome);
    if (message.kind !== "reloadStep") return;
    const { id, step } = message;
    this.send({ kind: "reloadAnswer", id, answer: await this.answer(step, gateway, log) });
  }

  private async answer(step: ReloadStep, gateway: RunningGateway, log: Log): Promise<ReloadAnswer> {
    if (step.step === "prepare") return this.prepare(gateway);
    const { prepared } = this;
    this.prepared = null;
    if (step.step === "abort" || prepared === null) return { kind: "done" };
    const reload = prepared.apply();
    if (step.isOnSignal) await recordReload({ gateway, log, clock: systemClock }, reload);
    else logReload(log, reload);
    return { kind: "done" };
  }

  private async prepare({ reloader }: RunningGateway): Promise<ReloadAnswer> {
    try {
      this.prepared = await reloader.prepare();
      const { digest, changes } = this.prepared;
      return { kind: "prepared", digest, changes };
    } catch (error) {
      const rejection =
        error instanceof ConfigError
          ? { message: error.message, problems: error.problems }
          : { message: String(error) };
      return { kind: "rejected", rejection };
    }
  }
}
