/** Entries of the audit log as sentences. Pure functions. */
import type { AuditEntry } from "../../api/schema.ts";
import { formatMoney } from "../../parts/values/format.ts";
import { printSeconds } from "../../parts/values/print-seconds.ts";
import { text } from "../../text/text.ts";
import { CHANGING, kindOf } from "./audit-kinds.ts";

const { kinds, fields: FIELDS, words } = text.audit;

/** A part of a sentence: words, or the id of a resource, which the screen shows by its name. */
export type Part = string | { readonly id: string };

type Fields = Readonly<Record<string, unknown>>;

type Entry = Pick<AuditEntry, "action" | "account_id" | "target" | "changes">;

/** A field that was set. `before` is undefined where it is not known. */
interface FieldChange {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The most fields that a sentence lists; the page of the entry has all. */
const MAX_FIELDS = 3;
const MAX_VALUE = 80;

/** Returns what was done, as the part of a sentence after the name of who did it. */
export function describeEntry(entry: Entry): readonly Part[] {
  const kind = kindOf(entry);
  const parts = fill(kinds[kind][1], entry);
  const sentence = CHANGING.has(kind) ? describeFields(parts, listChanges(entry.changes)) : parts;
  return entry.changes["(outcome)"] === "unknown" ? [...sentence, words.unknown] : sentence;
}

/** Returns a sentence about what was changed: one field before it, several after it. */
function describeFields(what: readonly Part[], changes: readonly FieldChange[]): readonly Part[] {
  const [first, another] = changes;
  if (first === undefined) return [`${words.saved} `, ...what, ` ${words.withoutChange}`];
  if (another !== undefined) return [`${words.changed} `, ...what, `: ${printFields(changes)}`];
  return [`${words.changed} ${labelOf(first)} ${words.of} `, ...what, printValues(first)];
}

function fill(template: string, entry: Entry): readonly Part[] {
  return template.split(/(\{\w+\})/).flatMap((part) => fillPart(part, entry));
}

function fillPart(part: string, entry: Entry): readonly Part[] {
  const { account_id, target, changes, action } = entry;
  const [organization = "", member = ""] = (target ?? "").split("/");
  if (part === "{target}") return [toPart(target, changes)];
  if (part === "{account}") return [toPart(account_id ?? organization, {})];
  if (part === "{member}") return [toPart(member, {})];
  if (part === "{team}")
    return [typeof changes["team"] === "string" ? changes["team"] : toPart(organization, {})];
  if (part === "{invited}")
    return [typeof changes["email"] === "string" ? changes["email"] : words.anyPerson];
  if (part === "{role}") return [printRole(changes["role"])];
  if (part === "{action}") return [action];
  if (part === "{amount}") return [printAmount(changes["amount"])];
  if (part === "{fields}") return [printFields(listChanges(changes))];
  return [part];
}

/** A resource by its name, if the change says it, because a deleted one is found no more. */
function toPart(id: string | null, changes: Fields): Part {
  const name = ((changes["before"] ?? changes["after"] ?? changes) as Fields)["name"];
  if (id !== null && /^(key|org|user|acct)_/.test(id)) return { id };
  if (typeof name === "string") return name;
  return id === null || id === "" ? words.nothing : { id };
}

/** Returns the name of a role within a sentence. */
function printRole(role: unknown): string {
  const name = text.roles[role as keyof typeof text.roles];
  return name === undefined ? words.nothing : name.toLowerCase();
}

function printAmount(amount: unknown): string {
  return amount === undefined ? "" : formatMoney(Number(amount) * 1e9);
}

/** Lists the fields that a change has set to another value; those of objects individually. */
export function listChanges(changes: Fields): readonly FieldChange[] {
  const { before, after, ...others } = changes;
  if (isFields(after)) {
    const known = isFields(before) ? before : null;
    const own = flatten(after).map(([name, value]) => ({
      name,
      before: known === null ? undefined : readPath(known, name),
      after: value,
    }));
    const changed = own.filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
    return [...changed, ...listChanges(others)];
  }
  return flatten(others)
    .filter(([name]) => name !== "(outcome)")
    .map(([name, value]) =>
      isFields(value) && "before" in value && "after" in value
        ? { name, before: value["before"], after: value["after"] }
        : { name, before: undefined, after: value },
    );
}

/** Returns the fields with their values. An object of policies or limits has several. */
function flatten(fields: Fields): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    isFields(value) && (name === "policy" || name === "rate_limit")
      ? Object.entries(value).map(([part, own]) => [`${name}.${part}`, own] as const)
      : [[name, value] as const],
  );
}

function readPath(fields: Fields, path: string): unknown {
  const [name = "", part] = path in fields ? [path] : path.split(".", 2);
  const value = fields[name] ?? null;
  return part === undefined ? value : isFields(value) ? (value[part] ?? null) : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function printFields(changes: readonly FieldChange[]): string {
  if (changes.length === 0) return words.withoutChange;
  const shown = changes.slice(0, MAX_FIELDS).map(printField);
  const more = changes.length - shown.length;
  const all = more > 0 ? [...shown, words.more(more)] : shown;
  return all.length === 1 ? (all[0] as string) : `${all.slice(0, -1).join(", ")} ${words.and} ${all.at(-1)}`;
}

function printField(change: FieldChange): string {
  return `${labelOf(change)}${printValues(change)}`;
}

function labelOf({ name }: FieldChange): string {
  return FIELDS[name] ?? name;
}

/** Returns the values with the words before them; nothing for a secret, which has none here. */
function printValues({ name, before, after }: FieldChange): string {
  if (name === "secret") return "";
  const from = before === undefined ? "" : ` ${words.from} ${printValue(name, before)}`;
  return `${from} ${words.to} ${printValue(name, after)}`;
}

const DOLLARS = ["spend_limit", "monthly_limit", "daily_limit", "overdraft", "limit"];
const SECONDS = ["prompt_log", "cache"];

function printValue(name: string, value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0))
    return words.none;
  if (typeof value === "boolean") return value ? words.on : words.off;
  if (typeof value === "number" && DOLLARS.includes(name)) return formatMoney(value * 1e9);
  if (typeof value === "number" && SECONDS.includes(name)) return printSeconds(value);
  if (typeof value === "number" && name === "warn_at") return `${Math.round(value * 1_000) / 10} %`;
  if (name === "expires_at" && typeof value === "string") return value.slice(0, "YYYY-MM-DD".length);
  const printed = Array.isArray(value)
    ? value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(", ")
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
  return printed.length > MAX_VALUE ? `${printed.slice(0, MAX_VALUE)}…` : printed;
}
