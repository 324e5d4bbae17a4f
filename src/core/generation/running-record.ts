import type { Warning } from "../../wire/conversation/warning.ts";
import type { Candidate } from "../routing/plan/plan.ts";
import { recordFormat, toPlanEntries } from "../routing/plan/plan-entries.ts";
import type { AttemptRecord, UsageRecord } from "../usage/records/records.ts";
import { NO_MARKS, recordWork } from "../usage/records/work-record.ts";
import type { AttemptOutcome } from "./attempt/attempt.ts";
import type { EncodedForCandidate } from "./attempt/encode-for-candidate.ts";
import type { GenerationCall, GenerationDeps } from "./call/call.ts";
import type { Allowance } from "./hold/allowance.ts";
import type { Admission, AdmittedRequest } from "./prepare/admission.ts";
import { type BegunAttempt, endAttempt, withProviderMessage } from "./records/attempt-record.ts";
import { NO_ATTEMPTS, type OpenRecord, openRecord, setCandidate, setHeld } from "./records/open-record.ts";
import type { Route } from "./route/route-request.ts";

/** An attempt that begins. */
interface BeginningRecord {
  readonly attempt: BegunAttempt;
  /** Repairs and warnings of its encoded request. */
  readonly work: UsageRecord["work"];
  readonly request: GenerationCall["request"];
  readonly allowance: Allowance;
}

/** The record of a running generation: decisions, attempts and warnings. */
export class RunningRecord {
  /** The record as it is now. */
  readonly open: OpenRecord;
  /** The attempts that have ended. */
  attempts: readonly AttemptRecord[] = NO_ATTEMPTS;
  /** The warnings of admission and gates. */
  warnings: readonly Warning[];
  /** Nothing of the request may be stored. */
  readonly zeroRetention: boolean;
  private readonly recorder: GenerationDeps["recorder"];

  constructor(deps: GenerationDeps, call: GenerationCall, admitted: AdmittedRequest) {
    const { warnings, zeroRetention } = admitted.admission;
    this.open = openRecord(deps, call, admitted);
    this.warnings = warnings;
    this.zeroRetention = zeroRetention;
    this.recorder = deps.recorder;
  }

  /** Adds the routing decision. */
  plan(route: Route, filteredOut: Admission["filteredOut"]): void {
    this.open.plan = toPlanEntries(route, filteredOut);
  }

  /** Adds warnings of gates for the answer and the record. */
  warn(warnings: readonly Warning[]): void {
    if (warnings.length === 0) return;
    this.warnings = [...this.warnings, ...warnings];
    this.open.work = this.describeWork({ repair: null, warnings: [] });
  }

  /** Returns the repairs and warnings of an encoding, with the warnings of admission and gates; undefined if there are none. */
  describeWork({
    repair,
    warnings,
    cacheMarks = NO_MARKS,
  }: Pick<EncodedForCandidate, "repair" | "warnings" | "cacheMarks">): UsageRecord["work"] {
    if (repair === null && warnings.length + this.warnings.length + cacheMarks.length === 0) return undefined;
    const work = { repairs: repair?.counts ?? null, warnings: [...this.warnings, ...warnings], cacheMarks };
    return recordWork(work, this);
  }

  /** Adds an attempt that begins. Resolves to whether the record is durable. */
  beginAttempt(
    candidate: Candidate,
    { attempt, work, request, allowance }: BeginningRecord,
  ): Promise<boolean> {
    const { open } = this;
    setCandidate(open, candidate, request);
    open.attempts = withAttempt(this.attempts, attempt);
    open.work = work;
    const hasFormats = candidate.served.targets(request.action).length > 1;
    if (hasFormats) open.plan = recordFormat(open.plan, candidate, attempt.format);
    setHeld(open, allowance);
    this.recorder.write({ ...open });
    return this.recorder.flushDurably();
  }

  /** Adds the outcome of an attempt, which was known at `now` (milliseconds since the epoch). Returns the attempt. */
  endAttempt({ key }: Candidate, begun: BegunAttempt, outcome: AttemptOutcome, now: number): AttemptRecord {
    const { zeroRetention } = this;
    const ended = endAttempt(begun, outcome, now);
    const attempt =
      outcome.kind === "failed"
        ? withProviderMessage(ended, outcome, { secret: key.secret, zeroRetention })
        : ended;
    this.attempts = withAttempt(this.attempts, attempt);
    this.open.attempts = this.attempts;
    return attempt;
  }

  /** Removes an attempt that was recorded but is not sent. */
  dropUnsent(): void {
    this.open.attempts = this.attempts;
  }

  /** Restores an earlier candidate, whose answer is used after others were tried. `work` holds its repairs and warnings. */
  restore(candidate: Candidate, work: UsageRecord["work"], request: GenerationCall["request"]): void {
    setCandidate(this.open, candidate, request);
    this.open.attempts = this.attempts;
    this.open.work = work;
  }
}

/** Returns a list with one more attempt. Nearly every generation has only one. */
function withAttempt(attempts: readonly AttemptRecord[], attempt: AttemptRecord): readonly AttemptRecord[] {
  return attempts.length === 0 ? [attempt] : [...attempts, attempt];
}
