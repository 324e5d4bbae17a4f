import type { Books } from "../books/books.ts";
import { type Check, check } from "../books/check.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { type ClusterPayer, grant } from "./payers.ts";

const PAUSE_MS = 1_500;
const RETRY_MS = 200;
const CALL_MS = 5_000;
/** Longer than any fault. */
const CONFIRM_MS = 60_000;
/** Tenths of a cent, which some requests cost. */
const MOST = 2;

/** Adds credits to an account now and then, each repeated until a gateway confirms it. */
export class Grants {
  private readonly confirmed: { readonly id: string; readonly amount: number }[] = [];
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(
    private readonly url: string,
    private readonly payer: ClusterPayer,
    chance: SeededRandom,
  ) {
    this.ended = this.repeat(chance);
  }

  /** Resolves when the last grant is confirmed. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  /** Compares the ledger with what was confirmed. */
  check({ transfers }: Books): Check {
    return check("a grant that a gateway confirmed is in the ledger", this.confirmed, ({ id, amount }) => {
      const found = transfers.get(`grant:${id}`);
      return found?.kind === "grant" && found.amount === amount ? null : `${id}: ${JSON.stringify(found)}`;
    });
  }

  private async repeat(chance: SeededRandom): Promise<void> {
    for (let number = 1; !this.isOver; number++) {
      const tenths = 1 + chance.below(MOST);
      const id = `grant_${number}`;
      await this.confirm(id, tenths);
      this.confirmed.push({ id, amount: tenths * 1_000_000 });
      await Bun.sleep(PAUSE_MS);
    }
  }

  private async confirm(id: string, tenths: number): Promise<void> {
    const { url, payer } = this;
    const until = Date.now() + CONFIRM_MS;
    for (;;) {
      try {
        const dollars = `0.${String(tenths).padStart(3, "0")}`;
        const sent = grant({ url, id, accountId: payer.accountId, dollars });
        await Promise.race([sent, rejectLate()]);
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
        await Bun.sleep(RETRY_MS);
      }
    }
  }
}

/** A gateway that is paused answers nothing. */
async function rejectLate(): Promise<never> {
  await Bun.sleep(CALL_MS);
  throw new Error(`no answer within ${CALL_MS} ms`);
}
