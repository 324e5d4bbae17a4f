import { ERROR_STATUS, type ErrorCode } from "../../../base/failures/errors.ts";

/** How a generation ended, as reports group it: a failure by its error. */
export const USAGE_OUTCOMES = [
  "completed",
  "cached",
  "cancelled",
  "interrupted",
  ...(Object.keys(ERROR_STATUS) as ErrorCode[]),
] as const;
export type UsageOutcome = (typeof USAGE_OUTCOMES)[number];

/** The dimensions by which generations are summed. An empty string means none. */
export interface UsageSumKey {
  readonly day: number;
  /** The hour of the day, from 0 on. */
  readonly hour: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly userId: string;
  readonly model: string;
  readonly provider: string;
  readonly outcome: UsageOutcome;
}
