import {
  type HealthHistoryStore,
  INCIDENTS_MS,
  MAX_INCIDENTS,
  type OutcomeSum,
} from "../../core/routing/history/health-history-store.ts";
import { firstKeptOf, HISTORY_RANGES } from "../../core/routing/history/history-ranges.ts";
import {
  applyReport,
  endUnobserved,
  type Incident,
  type IncidentReport,
  OBSERVED_MS,
} from "../../core/routing/history/incident.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { integer, json, named, Table, text } from "./statements/table.ts";

const OUTCOMES = new Table<OutcomeSum>("provider_outcomes", {
  provider: text,
  range: named("span", text),
  beganAt: integer,
  succeeded: integer,
  failed: integer,
  rateLimited: integer,
  keyRefused: integer,
});

const INCIDENTS = new Table<Incident>("provider_incidents", {
  id: text,
  provider: text,
  level: text,
  models: json,
  beganAt: integer,
  endedAt: integer,
  end: named("end_reason", text),
  seenAt: integer,
  observers: json,
  failures: json,
  sample: json,
  failedAttempts: integer,
  savedRequests: integer,
  failedRequests: integer,
});

/** The fields of an incident that reports change. */
const REPORTED: readonly (keyof Incident & string)[] = [
  ...(["level", "models", "endedAt", "end", "seenAt", "observers"] as const),
  ...(["failures", "sample", "failedAttempts", "savedRequests", "failedRequests"] as const),
];

/** The outcomes of attempts at providers, and their incidents. */
export class SqlHealthHistoryStore implements HealthHistoryStore {
  constructor(private readonly database: SqlDatabase) {}

  async addOutcomes(sums: readonly OutcomeSum[]) {
    if (sums.length === 0) return;
    const added = this.database.traits.listAs(
      "added",
      {
        ...{ provider: "text", span: "text", began_at: "bigint" },
        ...{ succeeded: "bigint", failed: "bigint", rate_limited: "bigint", key_refused: "bigint" },
      },
      sums.map((sum) => [
        ...[sum.provider, sum.range, sum.beganAt],
        ...[sum.succeeded, sum.failed, sum.rateLimited, sum.keyRefused],
      ]),
    );
    // In the order of the key, so that two gateways never wait for each other.
    await this.database.run(
      sql`INSERT INTO provider_outcomes AS known
          (provider, span, began_at, succeeded, failed, rate_limited, key_refused)
        SELECT provider, span, began_at, succeeded, failed, rate_limited, key_refused
        FROM ${added} WHERE true ORDER BY provider, span, began_at
        ON CONFLICT (provider, span, began_at) DO UPDATE SET
          succeeded = known.succeeded + excluded.succeeded,
          failed = known.failed + excluded.failed,
          rate_limited = known.rate_limited + excluded.rate_limited,
          key_refused = known.key_refused + excluded.key_refused`,
    );
  }

  async listOutcomes({ range, from, provider }: Parameters<HealthHistoryStore["listOutcomes"]>[0]) {
    const ofProvider = provider === null ? null : sql`provider = ${provider}`;
    const wanted = where(sql`span = ${range}`, sql`began_at >= ${from}`, ofProvider);
    const rows = await this.database.run(OUTCOMES.select(sql`${wanted} ORDER BY provider, began_at`));
    return rows.map(OUTCOMES.read);
  }

  reportIncident(report: IncidentReport) {
    return this.database.transaction(() => reportIncident(report));
  }

  async listIncidents(filter: Parameters<HealthHistoryStore["listIncidents"]>[0], now: number) {
    const { provider, isOpen, before, limit } = filter;
    const wanted = where(
      provider === null ? null : sql`provider = ${provider}`,
      isOpen === null ? null : isOpen ? isOpenAt(now) : sql`NOT ${isOpenAt(now)}`,
      before === null ? null : sql`id < ${before}`,
    );
    const rows = await this.database.run(INCIDENTS.select(sql`${wanted} ORDER BY id DESC LIMIT ${limit}`));
    return rows.map((row) => endUnobserved(INCIDENTS.read(row), now));
  }

  async sweepHistory(now: number) {
    await this.database.run(endAllUnobserved(now));
    for (const range of HISTORY_RANGES)
      await this.database.run(
        sql`DELETE FROM provider_outcomes WHERE span = ${range} AND began_at < ${firstKeptOf(range, now)}`,
      );
    await this.database.run(sql`DELETE FROM provider_incidents WHERE ended_at < ${now - INCIDENTS_MS}`);
    await this.database.run(
      sql`DELETE FROM provider_incidents WHERE id <=
        (SELECT id FROM provider_incidents ORDER BY id DESC LIMIT 1 OFFSET ${MAX_INCIDENTS})`,
    );
  }
}

function isOpenAt(now: number): Sql {
  return sql`(ended_at IS NULL AND seen_at > ${now - OBSERVED_MS})`;
}

function endAllUnobserved(now: number): Sql {
  return sql`UPDATE provider_incidents SET ended_at = seen_at, end_reason = 'unobserved'
    WHERE ended_at IS NULL AND seen_at <= ${now - OBSERVED_MS}`;
}

function* reportIncident(report: IncidentReport): Work<void> {
  const last = yield* findLast(report);
  const incident = applyReport(last, report);
  if (incident === null) return;
  if (incident.id === last?.id) yield* updateIncident(incident);
  else {
    const added = yield* sql`${INCIDENTS.insert(incident)} ON CONFLICT DO NOTHING RETURNING id`;
    if (added.length > 0) return;
    // Another gateway has begun the incident meanwhile.
    const begun = applyReport(yield* findLast(report), report);
    if (begun !== null) yield* updateIncident(begun);
  }
}

/** Finds the last incident of a provider, and locks it until the end of the transaction. */
function* findLast({ provider, at }: IncidentReport): Work<Incident | null> {
  const rows = yield* INCIDENTS.select(sql`WHERE provider = ${provider} ORDER BY id DESC LIMIT 1 FOR UPDATE`);
  const last = INCIDENTS.readFirst(rows);
  if (last === null) return null;
  const current = endUnobserved(last, at);
  if (current !== last) yield* updateIncident(current);
  return current;
}

function* updateIncident(incident: Incident): Work<void> {
  yield* sql`UPDATE provider_incidents ${INCIDENTS.set(incident, REPORTED)} WHERE id = ${incident.id}`;
}
