import type { AuditQuery, AuditStore } from "../../core/audit/audit-store.ts";
import { type ChainEnd, chainEntry, EMPTY_CHAIN } from "../../core/audit/chain.ts";
import { type AuditDraft, type AuditEntry, markUnknown } from "../../core/audit/records.ts";
import type { SqlDatabase, SqlTraits } from "./statements/database.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { integer, json, Table, text } from "./statements/table.ts";
import { type Integer, readInteger } from "./statements/values.ts";

const ENTRIES = new Table<AuditEntry>("audit_log", {
  place: integer,
  at: integer,
  keyId: text,
  userId: text,
  action: text,
  accountId: text,
  target: text,
  requestId: text,
  changes: json,
  previousHash: text,
  hash: text,
});

/** The audit log. Triggers prevent that entries are changed or deleted. */
export class SqlAuditStore implements AuditStore {
  private readonly traits: SqlTraits;

  constructor(private readonly database: SqlDatabase) {
    this.traits = database.traits;
  }

  async appendAudit(draft: AuditDraft) {
    const [entry] = await this.database.transaction(() => appendAll(this.traits, [draft]));
    return entry as AuditEntry;
  }

  async beginChange(draft: AuditDraft, gatewayId: string) {
    const { begunChanges: table, begunChangeId: id } = this.traits.names;
    const json = JSON.stringify(draft);
    const [row] = await this.database.run(
      this.traits.isShared
        ? sql<{
            id: Integer;
          }>`INSERT INTO ${table} (owner, draft) VALUES (${gatewayId}, ${json}) RETURNING ${id} AS id`
        : sql<{ id: Integer }>`INSERT INTO ${table} (draft) VALUES (${json}) RETURNING ${id} AS id`,
    );
    return readInteger(row?.id ?? "");
  }

  commitChange(id: number, drafts: readonly AuditDraft[]) {
    const { traits } = this;
    return this.database.transaction(function* () {
      yield* appendAll(traits, drafts);
      yield* deleteChange(traits, id);
    });
  }

  async abortChange(id: number) {
    await this.database.run(deleteChange(this.traits, id));
  }

  settleChanges(gatewayId: string) {
    return this.database.transaction(() => settleChanges(this.traits, gatewayId));
  }

  async listAudit({ actions, ...query }: AuditQuery) {
    if (actions === undefined) return this.readPage(query, null);
    // A list of several actions in one query would sort all of their entries.
    const pages = await Promise.all([...new Set(actions)].map((action) => this.readPage(query, action)));
    return pages
      .flat()
      .sort((a, b) => b.at - a.at || b.place - a.place)
      .slice(0, query.limit);
  }

  private readPage({ accountId, actor, target, from, to, after, limit }: AuditQuery, action: string | null) {
    const conditions = where(
      accountId == null ? null : sql`account_id = ${accountId}`,
      actor === undefined ? null : matchActor(actor),
      action === null ? null : sql`action = ${action}`,
      target === undefined ? null : sql`target = ${target}`,
      from == null ? null : sql`at >= ${from}::bigint`,
      to == null ? null : sql`at < ${to}::bigint`,
      after === undefined
        ? null
        : sql`(at, place) < ((SELECT at FROM audit_log WHERE place = ${after}::bigint), ${after}::bigint)`,
    );
    return this.read(sql`${conditions} ORDER BY at DESC, place DESC LIMIT ${limit}`);
  }

  async readAudit(afterPlace: number, limit: number) {
    return this.read(sql`WHERE place > ${afterPlace} ORDER BY place LIMIT ${limit}`);
  }

  private async read(rest: Sql): Promise<readonly AuditEntry[]> {
    return (await this.database.run(ENTRIES.select(rest))).map(ENTRIES.read);
  }
}

function matchActor(actor: string | null): Sql {
  if (actor === null) return sql`key_id IS NULL`;
  return actor.startsWith("key_") ? sql`key_id = ${actor}` : sql`user_id = ${actor}`;
}

/** Chains entries to the last one. */
function* appendAll(traits: SqlTraits, drafts: readonly AuditDraft[]): Work<readonly AuditEntry[]> {
  if (drafts.length === 0) return [];
  const entries: AuditEntry[] = [];
  let end = yield* lockChain(traits);
  for (const draft of drafts) {
    const entry = chainEntry(toStored(traits, draft), end);
    yield* ENTRIES.insert(entry);
    entries.push(entry);
    end = entry;
  }
  return entries;
}

/** Returns the end of the chain, to which no other process appends until the transaction ends. */
function* lockChain({ isShared }: SqlTraits): Work<ChainEnd> {
  if (isShared) yield* sql`SELECT FROM audit_lock FOR UPDATE`;
  const [last] = yield* sql<{ place: Integer; hash: string }>`
    SELECT place, hash FROM audit_log ORDER BY place DESC LIMIT 1`;
  return last === undefined ? EMPTY_CHAIN : { place: readInteger(last.place), hash: last.hash };
}

/** Returns a draft as it will be read back, so that its hash stays valid. `changes` is stored as JSON, which escapes U+0000. */
function toStored(traits: SqlTraits, draft: AuditDraft): AuditDraft {
  const { keyId, userId, action, accountId, target, requestId } = draft;
  const texts = Object.entries({ keyId, userId, action, accountId, target, requestId });
  const stored = texts.map(([name, text]) => [name, text === null ? null : traits.toStored(text)]);
  return { ...draft, ...Object.fromEntries(stored) };
}

function deleteChange({ names }: SqlTraits, id: number): Sql {
  return sql`DELETE FROM ${names.begunChanges} WHERE ${names.begunChangeId} = ${id}`;
}

/** Settles changes of a gateway, and changes that no request can still be making, whichever gateway began them. */
function* settleChanges(traits: SqlTraits, gatewayId: string): Work<number> {
  const { begunChanges: table, begunChangeId: id } = traits.names;
  const left = traits.isShared
    ? sql`owner = ${gatewayId} OR begun_at < clock_timestamp() - interval '1 hour'`
    : sql`true`;
  const begun = yield* sql<{ id: Integer; draft: string }>`
    DELETE FROM ${table} WHERE ${left} RETURNING ${id} AS id, draft`;
  const inOrder = [...begun].sort((a, b) => readInteger(a.id) - readInteger(b.id));
  yield* appendAll(
    traits,
    inOrder.map(({ draft }) => markUnknown(JSON.parse(draft) as AuditDraft)),
  );
  return begun.length;
}
