import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { PLATFORM_ACCOUNT } from "../../../core/ledger/records/records.ts";
import type { DumpRow } from "../../../core/storage-copy/tables.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

/** The maximum number of accounts whose sums are remembered. For other accounts all charges are summed again. */
const MAX_KNOWN = 100_000;

/** The charge to an account for generations before a transfer. */
interface Charged {
  readonly place: number;
  /** Nanodollars. */
  readonly amount: number;
}

/** Writes credits of another store, after its charges and in the order of their sequence numbers. */
export class CopiedCredits {
  private readonly known = new BoundedMap<string, Charged>({ max: MAX_KNOWN });

  async write(sql: SqlRunner, rows: readonly DumpRow[]): Promise<void> {
    const places = rows.map(({ place }) => Number(place));
    const from = rows.map((row) => String(row["from_account"]));
    const to = rows.map((row) => String(row["to_account"]));
    const charged = await this.sumCharges(sql, places, [from, to]);
    const texts = (name: string): string =>
      encodeList(rows.map((row) => (row[name] ?? null) as string | null));
    await sql.run(WRITE, [
      encodeList(places),
      ...["id", "kind", "from_account", "to_account", "amount", "created_at", "note", "expires_at"].map(
        texts,
      ),
      encodeList(from.map((account, at) => charged.get(`${at} ${account}`) ?? 0)),
      encodeList(to.map((account, at) => charged.get(`${at} ${account}`) ?? 0)),
    ]);
  }

  /** Returns what accounts had been charged before each place: by its index and the account. */
  private async sumCharges(
    sql: SqlRunner,
    places: readonly number[],
    accounts: readonly (readonly string[])[],
  ): Promise<ReadonlyMap<string, number>> {
    const spans = places.flatMap((place, at) =>
      accounts
        .map((list) => list[at] as string)
        .filter((account) => account !== PLATFORM_ACCOUNT)
        .map((account) => ({ at, account, place, after: 0 })),
    );
    // Only of this page, because the memory of earlier pages may evict an account meanwhile.
    const running = new Map<string, Charged>();
    for (const { account } of spans) running.set(account, this.known.get(account) ?? { place: 0, amount: 0 });
    const last = new Map([...running].map(([account, { place }]) => [account, place]));
    for (const span of spans) {
      span.after = last.get(span.account) ?? 0;
      last.set(span.account, span.place);
    }
    const sums = await sql.run<{ amount: string }>(SUM_SPANS, [
      encodeList(spans.map(({ account }) => account)),
      encodeList(spans.map(({ after }) => after)),
      encodeList(spans.map(({ place }) => place)),
    ]);
    const charged = new Map<string, number>();
    for (const [index, { at, account, place }] of spans.entries()) {
      const amount = (running.get(account)?.amount ?? 0) + readInteger(sums[index]?.amount ?? "");
      running.set(account, { place, amount });
      charged.set(`${at} ${account}`, amount);
    }
    for (const [account, sum] of running) this.known.set(account, sum);
    return charged;
  }
}

const SUM_SPANS = `SELECT (
    SELECT coalesce(sum(amount), 0) FROM charges c
    WHERE c.account_id = span.account_id AND c.place > span.after AND c.place < span.place)::bigint AS amount
  FROM unnest($1::text::text[], $2::text::bigint[], $3::text::bigint[]) WITH ORDINALITY
    AS span (account_id, after, place, number)
  ORDER BY number`;

const WRITE = `INSERT INTO credits
    (place, id, kind, from_account, to_account, amount, created_at, note, expires_at, from_charged, to_charged)
  SELECT * FROM unnest($1::text::bigint[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[],
    $6::text::bigint[], $7::text::bigint[], $8::text::text[], $9::text::bigint[], $10::text::bigint[], $11::text::bigint[])
  ON CONFLICT (place) DO NOTHING`;
