import { asFields, asList, type Fields, type MutableFields, setField } from "../../../base/json/fields.ts";

/** The lists of a body that vendors read before an answer, and whose elements clients send again in the next turn. */
const LISTS = ["messages", "input", "tools"] as const;

/**
 * Returns a body that was encoded in the client's format, with members in the client's order wherever the values are equal. In another turn
 * the client's bytes may be forwarded; the conversation must be sent the same way in each turn.
 */
export function keepOrder(body: Fields, sent: Fields): Fields {
  const kept: MutableFields = {};
  for (const name of LISTS) {
    const list = body[name];
    const given = sent[name];
    if (Array.isArray(list) && Array.isArray(given)) setField(kept, name, keepList(list, given));
  }
  return { ...body, ...kept };
}

/** Keeps the order in the elements of a list. Equal elements are matched in order, so that later elements do not affect earlier ones. */
function keepList(list: readonly unknown[], given: readonly unknown[]): readonly unknown[] {
  const queues = new Map<string, unknown[]>();
  for (const one of given.toReversed()) {
    const content = printSorted(one);
    const queue = queues.get(content);
    if (queue === undefined) queues.set(content, [one]);
    else queue.push(one);
  }
  return list.map((one) => arrange(one, queues.get(printSorted(one))?.pop()));
}

/** Returns a value with the members of its objects in the order of an equal value. */
function arrange(value: unknown, like: unknown): unknown {
  if (Array.isArray(value)) return value.map((one, at) => arrange(one, asList(like)[at]));
  const [fields, order] = [asFields(value), asFields(like)];
  if (fields === null || order === null) return value;
  const arranged: MutableFields = {};
  for (const name of Object.keys(order))
    if (Object.hasOwn(fields, name)) setField(arranged, name, arrange(fields[name], order[name]));
  for (const name of Object.keys(fields))
    if (!Object.hasOwn(order, name)) setField(arranged, name, fields[name]);
  return arranged;
}

/** Prints a value with sorted members and without cache marks, which change independently. */
function printSorted(value: unknown): string {
  return JSON.stringify(sortMembers(value));
}

/** Sorts the members of all objects. The depth was bounded when the body was parsed. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  const fields = asFields(value);
  if (fields === null) return value;
  const sorted: MutableFields = {};
  for (const name of Object.keys(fields).sort())
    if (name !== CACHE_MARK) setField(sorted, name, sortMembers(fields[name]));
  return sorted;
}

const CACHE_MARK = "cache_control";
