/** The statements of usage reports, which SQLite and PostgreSQL share. Their texts contain only names of columns, never values. */
import { type DayRange, formatDay, formatTime, HOUR_MS, HOURS_OF_DAY } from "../../../base/time/time.ts";
import {
  type HourRange,
  isOverTime,
  LINES_READ,
  type UsageGroup,
  type UsageQuery,
  type UsageSum,
} from "../../../core/usage/reports/report.ts";
import { ANY_TAG } from "../../../core/usage/reports/tag-sums.ts";
import { percentilesOf } from "../../../core/usage/reports/time-histogram.ts";
import type { UsageCounters } from "../../../core/usage/reports/usage-sums.ts";
import type { TimesLine } from "../../../core/usage/reports/usage-times.ts";
import {
  COUNTER_COLUMNS,
  COUNTERS,
  DURATION_COLUMNS,
  KEY_COLUMNS,
  LATENCY_COLUMNS,
  type SumTable,
  USAGE_CLIENTS,
  USAGE_SUMS,
  USAGE_TAGS,
  USAGE_TIMES,
} from "./columns.ts";

/** A statement and its parameters. */
interface Statement {
  readonly text: string;
  readonly values: (string | number)[];
}

/** Begins a parameter, which is named by its number: `?` in SQLite, `$` in PostgreSQL. */
type Mark = "?" | "$";

/** Returns the statement of a report. Its lines have the columns `group_0` and so on for the dimensions, and those of counters. */
export function describeReport(query: UsageQuery, mark: Mark): Statement {
  const values: Statement["values"] = [];
  const parameter = createParameters(values, mark);
  const { columns } = USAGE_SUMS;
  const tables = listSources(query, parameter).map((source) => describeSums(source, query.groups));
  const groups = query.groups.map((_, at) => `group_${at}`);
  const order = isOverTime(query) ? groups.map((name) => `${name} NULLS FIRST`) : BY_SIZE;
  // Each table is summed first, so that only sums are merged.
  const text = `SELECT ${[...groups, ...columns.map((name) => `sum(${name}) AS ${name}`)].join(", ")}
    FROM (${nameTeams(query, tables.join(" UNION ALL "), columns)}) AS tables
    GROUP BY ${groups.join(", ")} ${withoutEmpty(query)}
    ORDER BY ${order.join(", ")} LIMIT ${LINES_READ}`;
  return { text, values };
}

/**
 * Returns the statement with the team of each key in place of the key, for a report by team. `sums` has the key there: no row of sums has
 * a team. Keys are looked up after summing, so that each needs one lookup and not one for each of its hours.
 */
function nameTeams({ groups }: UsageQuery, sums: string, columns: readonly string[]): string {
  const place = groups.indexOf("team");
  if (place === -1) return sums;
  const named = groups.map((_, at) => `${at === place ? "team_id" : `sums.group_${at}`} AS group_${at}`);
  return `SELECT ${[...named, ...columns].join(", ")} FROM (${sums}) AS sums
    LEFT JOIN (SELECT id AS team_key, team_id FROM api_keys) AS keys ON team_key = sums.group_${place}`;
}

/**
 * Returns the statement of the times of a report. Its lines have the columns of dimensions, and those of histograms. `only`: only lines
 * with these values of the single dimension; null for all lines.
 */
export function describeTimes(
  query: UsageQuery,
  mark: Mark,
  only: readonly (string | null)[] | null,
): Statement {
  const values: Statement["values"] = [];
  const parameter = createParameters(values, mark);
  const conditions = [...limitToHours(query, parameter), ...describeScope(query, parameter)];
  if (only !== null) {
    const list = parameter(JSON.stringify(only.map((value) => value ?? "")));
    conditions.push(`${teamOrColumn(query.groups[0] as UsageGroup)} ${isOneOf(list, mark)}`);
  }
  const { columns } = USAGE_TIMES;
  const sums = describeSums({ ...USAGE_TIMES, groups: groupsOf(query, GROUPS), conditions }, query.groups);
  if (!query.groups.includes("team")) return { text: sums, values };
  const groups = query.groups.map((_, at) => `group_${at}`);
  const summed = columns.map((name) => `sum(${name}) AS ${name}`);
  return {
    text: `SELECT ${[...groups, ...summed].join(", ")} FROM (${nameTeams(query, sums, columns)}) AS tables
      GROUP BY ${groups.join(", ")}`,
    values,
  };
}

/** Returns the expression of a dimension in the table of times, also of the team; empty for none. */
function teamOrColumn(group: UsageGroup): string {
  return group === "team" ? "coalesce((SELECT team_id FROM api_keys WHERE id = key_id), '')" : GROUPS[group];
}

/** Returns the condition that a column has one of the values of a JSON array. */
function isOneOf(list: string, mark: Mark): string {
  return mark === "?"
    ? `IN (SELECT value FROM json_each(${list}))`
    : `IN (SELECT json_array_elements_text(${list}::text::json))`;
}

type Parameter = (value: string | number) => string;

function createParameters(values: (string | number)[], mark: Mark): Parameter {
  return (value) => `${mark}${values.push(value)}`;
}

/** Lines that are not over time begin with the highest cost. */
const BY_SIZE = ["sum(cost) DESC", "sum(requests) DESC", "group_0"];

const SHARED_GROUPS = {
  day: "day",
  model: "model",
  provider: "provider",
  key: "key_id",
  user: "user_id",
  // `nameTeams` puts the team in place of the key.
  team: "key_id",
  account: "account_id",
} as const;

type GroupColumns = Readonly<Record<UsageGroup, string>>;

const GROUPS: GroupColumns = {
  ...SHARED_GROUPS,
  hour: `CASE WHEN hour < 0 THEN NULL ELSE day * ${HOURS_OF_DAY} + hour END`,
  outcome: "outcome",
  client: "''",
  tag: "''",
};
const TAG_GROUPS: GroupColumns = { ...GROUPS, tag: "tag" };
const CLIENT_GROUPS: GroupColumns = { ...GROUPS, client: "client" };

/** Returns the columns of dimensions, with the days of the report's time zone. A whole day of UTC counts for the day with its date. */
function groupsOf({ dayOffsets }: UsageQuery, columns: GroupColumns): GroupColumns {
  if (dayOffsets === undefined) return columns;
  const hourOfAll = `(day * ${HOURS_OF_DAY} + hour)`;
  const [first, ...later] = dayOffsets.map(({ minutes }) => minutes);
  const cases = later.map(
    (minutes, at) => `WHEN ${hourOfAll} >= ${dayOffsets[at + 1]?.fromHour} THEN ${minutes}`,
  );
  const offset = cases.length === 0 ? String(first) : `CASE ${cases.reverse().join(" ")} ELSE ${first} END`;
  const day = `CASE WHEN hour < 0 THEN day ELSE (${hourOfAll} * 60 + (${offset})) / 1440 END`;
  return { ...columns, day };
}

/** The daily sums that earlier versions have saved: without hours, outcomes, the bills for BYOK keys, and the savings of caches. */
const FORMER_DAYS = {
  name: "usage_days",
  columns: USAGE_SUMS.columns,
  absent: [COUNTER_COLUMNS.byokUpstreamCost, COUNTER_COLUMNS.cacheSaved, COUNTER_COLUMNS.answersSaved],
} as const;
const FORMER_GROUPS: GroupColumns = { ...GROUPS, hour: "CAST(NULL AS integer)", outcome: "''" };

/** Rows of a table that belong to a report. */
interface Source extends Pick<SumTable<never>, "columns"> {
  readonly name: string;
  /** The columns of the dimensions. */
  readonly groups: GroupColumns;
  readonly conditions: readonly string[];
  /** Columns that the table does not have, as if they were 0. Absent: none. */
  readonly absent?: readonly string[];
  /** They are subtracted. Absent: they are added. */
  readonly isSubtracted?: true;
}

/**
 * Returns the sums that a report adds up. No row says which requests have no tags or no known client; in a report by tag or client, they are
 * all requests minus the others.
 */
function listSources(query: UsageQuery, parameter: Parameter): readonly Source[] {
  const scope = describeScope(query, parameter);
  const limited = (condition: string) => [...limitToHours(query, parameter), ...scope, condition];
  const { tag = null, client = null } = query;
  if (client !== null) {
    const conditions = limited(`client = ${parameter(client)}`);
    return [{ ...USAGE_CLIENTS, groups: groupsOf(query, CLIENT_GROUPS), conditions }];
  }
  if (tag !== null)
    return [
      { ...USAGE_TAGS, groups: groupsOf(query, TAG_GROUPS), conditions: limited(`tag = ${parameter(tag)}`) },
    ];
  const all: readonly Source[] = [
    {
      ...USAGE_SUMS,
      groups: groupsOf(query, GROUPS),
      conditions: [...limitToHours(query, parameter), ...scope],
    },
    { ...FORMER_DAYS, groups: FORMER_GROUPS, conditions: [...limitToDays(query, parameter), ...scope] },
  ];
  const ofClients = () => [...limitToHours(query, parameter), ...scope];
  if (query.groups.includes("client"))
    return [
      { ...USAGE_CLIENTS, groups: groupsOf(query, CLIENT_GROUPS), conditions: ofClients() },
      ...all,
      { ...USAGE_CLIENTS, groups: groupsOf(query, GROUPS), conditions: ofClients(), isSubtracted: true },
    ];
  if (!query.groups.includes("tag")) return all;
  return [
    { ...USAGE_TAGS, groups: groupsOf(query, TAG_GROUPS), conditions: limited(`tag <> '${ANY_TAG}'`) },
    ...all,
    {
      ...USAGE_TAGS,
      groups: groupsOf(query, GROUPS),
      conditions: limited(`tag = '${ANY_TAG}'`),
      isSubtracted: true,
    },
  ];
}

/** Returns the condition for lines of a report by tag or client: the line of the other requests can be empty. */
function withoutEmpty({ groups, tag = null, client = null }: UsageQuery): string {
  const isSubtracted =
    (tag === null && groups.includes("tag")) || (client === null && groups.includes("client"));
  if (!isSubtracted) return "";
  // Usage of an advisor has no request.
  return "HAVING sum(requests) <> 0 OR sum(prompt_tokens) <> 0 OR sum(cost) <> 0";
}

function describeSums(
  { name, columns, groups: groupColumns, conditions, absent = [], isSubtracted }: Source,
  groups: readonly UsageGroup[],
): string {
  const selected = groups.map((group, at) => `${groupColumns[group]} AS group_${at}`);
  const sign = isSubtracted ? "-" : "";
  const sums = columns.map((column) => `${sign}sum(${absent.includes(column) ? 0 : column}) AS ${column}`);
  return `SELECT ${[...selected, ...sums].join(", ")} FROM ${name}
    WHERE ${conditions.join(" AND ")} GROUP BY ${groups.map((_, at) => at + 1).join(", ")}`;
}

function describeScope(query: UsageQuery, parameter: Parameter): string[] {
  const { teamId = null } = query;
  const conditions = (["accountId", "userId", "keyId", "model", "provider"] as const).flatMap((name) => {
    const value = query[name] ?? null;
    return value === null ? [] : [`${KEY_COLUMNS[name]} = ${parameter(value)}`];
  });
  if (teamId === null) return conditions;
  return [...conditions, `key_id IN (SELECT id FROM api_keys WHERE team_id = ${parameter(teamId)})`];
}

/** Sums of hours in the range, and of whole days that belong to it. */
function limitToHours({ fromHour, toHour, wholeDays }: HourRange, parameter: Parameter): string[] {
  if (wholeDays !== undefined) return limitToZone({ fromHour, toHour, wholeDays }, parameter);
  const [firstDay, lastDay] = [dayOfHour(fromHour), dayOfHour(toHour)];
  const [firstHour, lastHour] = [fromHour - firstDay * HOURS_OF_DAY, toHour - lastDay * HOURS_OF_DAY];
  const first = parameter(firstDay);
  const last = parameter(lastDay);
  const conditions = [`day BETWEEN ${first} AND ${last}`];
  if (firstHour > 0) conditions.push(`(day > ${first} OR hour >= ${parameter(firstHour)})`);
  if (lastHour < HOURS_OF_DAY - 1)
    conditions.push(`(day < ${last} OR hour BETWEEN 0 AND ${parameter(lastHour)})`);
  return conditions;
}

/** The same in a time zone, where the whole days of UTC are not those of the range. */
function limitToZone({ fromHour, toHour, wholeDays }: Required<HourRange>, parameter: Parameter): string[] {
  const first = parameter(Math.min(dayOfHour(fromHour), wholeDays.from));
  const last = parameter(Math.max(dayOfHour(toHour), wholeDays.to));
  const [from, to] = [parameter(fromHour), parameter(toHour)];
  const [firstWhole, lastWhole] = [parameter(wholeDays.from), parameter(wholeDays.to)];
  return [
    `day BETWEEN ${first} AND ${last}`,
    `CASE WHEN hour < 0 THEN day BETWEEN ${firstWhole} AND ${lastWhole}
      ELSE day * ${HOURS_OF_DAY} + hour BETWEEN ${from} AND ${to} END`,
  ];
}

/** Returns a statement that finds out whether some days have sums of the whole day. It looks up one entry of an index for each day. */
export function describeWholeDays({ from, to }: DayRange): string {
  return `WITH RECURSIVE days (day) AS (
      SELECT ${Math.floor(from)} UNION ALL SELECT day + 1 FROM days WHERE day < ${Math.floor(to)}
    )
    SELECT 1 AS one FROM days
    WHERE (SELECT min(hour) FROM usage_sums AS sums WHERE sums.day = days.day) < 0
      OR EXISTS (SELECT 1 FROM usage_days AS former WHERE former.day = days.day) LIMIT 1`;
}

/** Days that belong to the range. */
function limitToDays({ fromHour, toHour, wholeDays }: HourRange, parameter: Parameter): string[] {
  const first = wholeDays?.from ?? Math.ceil(fromHour / HOURS_OF_DAY);
  const last = wholeDays?.to ?? dayOfHour(toHour + 1) - 1;
  return [`day BETWEEN ${parameter(first)} AND ${parameter(last)}`];
}

function dayOfHour(hour: number): number {
  return Math.floor(hour / HOURS_OF_DAY);
}

/** A line of a report as a database returns it. */
type Row = Readonly<Record<string, unknown>>;

/** Reads a line of a report. */
export function readSum(row: Row, query: UsageQuery, read: (value: unknown) => number): UsageSum {
  const counters = Object.fromEntries(COUNTERS.map((name) => [name, read(row[COUNTER_COLUMNS[name]])]));
  return { groups: readGroups(row, query), ...(counters as unknown as UsageCounters) };
}

/** Reads the times of a line of a report. */
export function readTimes(row: Row, query: UsageQuery, read: (value: unknown) => number): TimesLine {
  const percentilesIn = (columns: readonly string[]) => percentilesOf(columns.map((name) => read(row[name])));
  return {
    groups: readGroups(row, query),
    latency: percentilesIn(LATENCY_COLUMNS),
    duration: percentilesIn(DURATION_COLUMNS),
  };
}

function readGroups(row: Row, { groups }: UsageQuery): (string | null)[] {
  return groups.map((name, at) => readGroup(name, row[`group_${at}`]));
}

function readGroup(name: UsageGroup, value: unknown): string | null {
  if (value === null || value === undefined || value === "") return null;
  if (name === "day") return formatDay(Number(value));
  return name === "hour" ? formatTime(Number(value) * HOUR_MS) : String(value);
}
