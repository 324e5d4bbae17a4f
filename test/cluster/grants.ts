import type { Books } from "../books/books.ts";
import { type Check, check } from "../books/check.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { type ClusterPayer, grant } from "./payers.ts";
import { untilConfirmed } from "./until-confirmed.ts";

const PAUSE_MS = 1_500;
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
      const dollars = `0.${String(tenths).padStart(3, "0")}`;
      const { url, payer } = this;
      await untilConfirmed(() => grant({ url, id, accountId: payer.accountId, dollars }));
      this.confirmed.push({ id, amount: tenths * 1_000_000 });
      await Bun.sleep(PAUSE_MS);
    }
  }
}
