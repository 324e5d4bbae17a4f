import type { BillEntry, PlanName } from "../books/billing-vendor.ts";
import { type Check, check } from "../books/check.ts";
import type { Answer, ClientError } from "./clients.ts";
import type { Done, Harm } from "./faults.ts";

/** What clients saw, and what was done to the cluster meanwhile. */
export interface Seen {
  readonly answers: readonly Answer[];
  readonly faults: readonly Done[];
  readonly bill: readonly BillEntry[];
}

/** How long after a fault its effects may still be seen: connections are found again, a start takes its time. Milliseconds. */
const RECOVERY_MS = 8_000;
/** How early before a fault a request may have been sent that it hits: clients and faults are timed by one process. Milliseconds. */
const CLOCK_MS = 50;
const MAX_UNDISTURBED = 0.02;
/** The vendor fails some requests on purpose. */
const FAILING: readonly PlanName[] = ["broken", "refused", "elsewhere"];

/** Checks each answer against docs/api/errors.md. */
export function checkContract({ answers, faults, bill }: Seen): Check[] {
  const errors = answers.flatMap((answer) =>
    answer.error === null ? [] : [{ ...answer, error: answer.error }],
  );
  const rejected = errors.filter(({ error }) => error.type === "insufficient_credits");
  const reached = new Set(bill.map(({ serial }) => serial));
  const during = (answer: Answer, harms: readonly Harm[], afterMs: number): boolean =>
    faults.some(
      (fault) =>
        fault.harms.some((harm) => harms.includes(harm)) &&
        answer.one.askedAt <= fault.endedAt + afterMs &&
        fault.startedAt - CLOCK_MS <= answer.endedAt,
    );
  return [
    check(
      "an answer is complete, or an error that the contract allows for this request",
      answers,
      (answer) => (answer.error === null ? null : explain(answer, answer.error)),
    ),
    checkUndisturbed(answers.filter((answer) => !during(answer, ["store", "gateway"], RECOVERY_MS))),
    check("no request with a valid key is told that it has none", answers, (answer) =>
      answer.one.status === 401 || answer.error?.type === "authentication" ? describe(answer) : null,
    ),
    check(
      "a request is rejected for lack of credit only if its account or limit can be used up",
      rejected,
      (answer) => (answer.payer.canRunOut ? null : describe(answer)),
    ),
    check(
      "a request that is rejected for lack of credit or for a limit has not reached the vendor",
      errors.filter(({ error }) => ["insufficient_credits", "rate_limit_exceeded"].includes(error.type)),
      (answer) => (reached.has(answer.one.serial) ? describe(answer) : null),
    ),
    check(
      "a connection breaks only if its gateway was killed or paused",
      answers.filter(({ isBroken }) => isBroken),
      (answer) => (during(answer, ["gateway"], 1_000) ? null : describe(answer)),
    ),
    check(
      "a client waits for an answer in vain only if a gateway or a store was paused",
      answers.filter(({ isTooLate }) => isTooLate),
      (answer) => (during(answer, ["gateway", "store"], 0) ? null : describe(answer)),
    ),
  ];
}

/**
 * Checks requests that were sent and answered while nothing failed. A machine that does nothing else for seconds fails some of them,
 * because every wait has a bound.
 */
function checkUndisturbed(answers: readonly Answer[]): Check {
  const isUnavailable = ({ error, one }: Answer) =>
    error?.type === "unavailable" && !FAILING.includes(one.plan);
  const found = answers.filter(isUnavailable);
  const isTooMany = found.length > answers.length * MAX_UNDISTURBED;
  return {
    property: `while nothing fails, at most ${MAX_UNDISTURBED * 100} % of the requests are told to come back later`,
    cases: answers.length,
    broken: isTooMany ? found.map(describe) : [],
  };
}

/** Returns what is wrong with an error, or `null`. */
function explain(answer: Answer, error: ClientError): string | null {
  const { one, payer } = answer;
  const isAllowed = (): boolean => {
    switch (error.type) {
      case "insufficient_credits":
        return payer.canRunOut;
      case "rate_limit_exceeded":
        return (payer.requestsPerMinute !== null || payer.concurrent !== null) && error.limitSource === "key";
      case "upstream_error":
        return FAILING.includes(one.plan);
      case "unavailable":
        return one.status === 200 || error.hasRetryAfter;
      default:
        return false;
    }
  };
  return isAllowed() ? null : describe(answer);
}

function describe({ one, payer, error, endedAt }: Answer): string {
  const { serial, plan, isStream, status, askedAt } = one;
  const time = new Date(askedAt).toISOString().slice(11, 23);
  const said = error === null ? "no answer" : `${error.type} (${error.limitSource}): ${error.message}`;
  return `${time} + ${endedAt - askedAt} ms, request ${serial} (${plan}${isStream ? ", stream" : ""}) of ${payer.name}: ${status} ${said}`;
}
