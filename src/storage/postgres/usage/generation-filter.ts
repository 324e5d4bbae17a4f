import { lowestIdAt } from "../../../base/secrets/ids.ts";
import { dayOf } from "../../../base/time/time.ts";
import type { GenerationFilter } from "../../../core/usage/generations/generation-list.ts";
import type { PostgresValue } from "../connection/client.ts";

/** How a generation ended. `replayBy` is in the records of repeated answers only, and in a string of a record its quotes would be escaped. */
export const SHOWN_OUTCOME = `CASE WHEN outcome = 'completed' AND strpos(record, '"replayBy":') > 0 THEN 'cached' ELSE outcome END`;

/** The columns that a filter compares. The first five have an index: a team has that of its organization, which pays for all its requests. */
const COLUMNS = {
  sessionId: "session_id",
  keyId: "key_id",
  accountId: "account_id",
  teamId: "key_id",
  model: "model",
  modelContains: "model",
  outcome: SHOWN_OUTCOME,
  userId: "record::json ->> 'userId'",
  client: "record::json ->> 'client'",
  clientVersion: "record::json ->> 'clientVersion'",
  provider: "record::json ->> 'provider'",
  errorType: "record::json ->> 'error'",
} as const;
type Name = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Name[];
const INDEXED: readonly Name[] = ["sessionId", "keyId", "accountId", "teamId", "model"];

/** Outcomes that are rare, and have an index. Other generations have no error. */
const INDEXED_OUTCOMES = ["failed", "cancelled", "interrupted"];

/** Where generations are read: the tables, and the columns that are compared with the days. PostgreSQL skips partitions of a table only if the column of that table is compared. */
const ALL = { from: "generations", dayColumns: ["day"] };
const OF_TAG = {
  from: "generation_tags AS tagged JOIN generations USING (day, id)",
  dayColumns: ["tagged.day", "generations.day"],
};

/**
 * Returns the query for a filter: the condition for at most one index, and the condition for each row. The second is a function, because
 * PostgreSQL rejects a statement with parameters that it does not use.
 */
export function describeFilter(filter: GenerationFilter, parameter: (value: PostgresValue) => string) {
  const { fromMs, toMs, outcome, errorType, tag } = filter;
  const given = NAMES.filter((name) => filter[name] !== null);
  const lead = tag === null ? given.find((name) => INDEXED.includes(name)) : undefined;
  const read: string[] = [];
  const others = given.filter((name) => name !== lead || name === "teamId");
  if (tag !== null) read.push(`tagged.tag = ${parameter(tag)}`);
  else if (lead === "teamId")
    read.push(`account_id = (SELECT organization_id FROM teams WHERE id = ${parameter(filter.teamId)})`);
  else if (lead !== undefined) read.push(`${COLUMNS[lead]} = ${parameter(filter[lead])}`);
  // Values in the text, because the indexes on outcomes have only some of them.
  else if (INDEXED_OUTCOMES.includes(outcome ?? "") || outcome === "open")
    read.push(`outcome = '${outcome}'`);
  else if (outcome === null && errorType !== null) read.push("outcome IN ('failed', 'cancelled')");
  // As rows, because an index on day and id is entered at a row. With a condition on the id alone it is read from the begin of the day.
  const idAt = (ms: number) => `(${parameter(dayOf(ms))}, ${parameter(lowestIdAt("gen", ms))})`;
  if (fromMs !== null) read.push(`(day, id) >= ${idAt(fromMs)}`);
  if (toMs !== null) read.push(`(day, id) < ${idAt(toMs)}`);
  const compared = lead === undefined && read[0] === `outcome = '${outcome}'` ? "outcome" : null;
  const match = (name: Name): string => {
    if (name === "modelContains")
      return `coalesce(strpos(lower(${COLUMNS[name]}), ${parameter(filter[name])}) > 0, false)`;
    // The team of a key never changes.
    if (name === "teamId")
      return `coalesce(key_id IN (SELECT id FROM api_keys WHERE team_id = ${parameter(filter[name])}), false)`;
    const isEqual = `coalesce(${COLUMNS[name]} = ${parameter(filter[name])}, false)`;
    if (!COLUMNS[name].startsWith("record")) return isEqual;
    // Searching text is faster than parsing it.
    return `(strpos(record, ${parameter(JSON.stringify(filter[name]))}) > 0 AND ${isEqual})`;
  };
  return {
    ...(tag === null ? ALL : OF_TAG),
    read,
    listMatches: () => others.filter((name) => name !== compared).map(match),
  };
}
