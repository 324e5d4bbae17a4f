import { type Check, checkOnce } from "../books/check.ts";
import type { ClusterPayers } from "./payers.ts";
import { untilConfirmed } from "./until-confirmed.ts";

/** Spending limits are used up after two to three minutes; then only rejections are left of them. Milliseconds. */
const RENEW_MS = 240_000;
const LOOK_EVERY_MS = 500;

/** Replaces the payers with a spending limit every four minutes, so that limits are spent and used up in all of a long run. */
export class Renewals {
  private readonly failures: string[] = [];
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(private readonly payers: ClusterPayers) {
    this.ended = this.repeat();
  }

  /** Resolves when no replacement is under way. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  check(): Check {
    return checkOnce("payers with a spending limit are replaced every four minutes", this.failures);
  }

  private async repeat(): Promise<void> {
    for (let next = Date.now() + RENEW_MS; !this.isOver; await Bun.sleep(LOOK_EVERY_MS)) {
      if (Date.now() < next) continue;
      await untilConfirmed(() => this.payers.renewLimited()).catch((error) =>
        this.failures.push(String(error)),
      );
      next = Date.now() + RENEW_MS;
    }
  }
}
