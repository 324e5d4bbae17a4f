import { asFields, type Fields } from "../../base/json/fields.ts";
import type { MemberPath, TextEditor } from "./text-editor.ts";

/** Edits TOML: values of keys before the first table, and whole tables of texts, numbers and booleans. */
export const TOML_EDITOR: TextEditor = { parse, set, remove };

function parse(text: string): Fields {
  return Bun.TOML.parse(text) as Fields;
}

function set(text: string, path: MemberPath, value: unknown): string {
  const fields = asFields(value);
  if (fields !== null) return appendTable(remove(text, path), path, fields);
  const lines = text.split("\n");
  const at = findKey(lines, path);
  const written = JSON.stringify(value);
  if (at !== null)
    lines[at] = (lines[at] as string).replace(VALUE, (_, start, __, end) => start + written + end);
  else lines.splice(findRootEnd(lines), 0, `${keyName(path.at(-1) ?? "")} = ${written}`);
  return lines.join("\n");
}

function remove(text: string, path: MemberPath): string {
  const lines = text.split("\n");
  const key = findKey(lines, path);
  if (key !== null) return lines.toSpliced(key, 1).join("\n");
  const table = findTable(lines, path);
  if (table === null) return text;
  const [start, end] = table;
  return lines.toSpliced(start, end - start).join("\n");
}

/** A line with a key and a value on one line; what follows is a comment. */
const VALUE = /^([^=]*=\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#]+)(.*)$/;

/** Returns the line of a key before the first table; null if there is none. */
function findKey(lines: readonly string[], path: MemberPath): number | null {
  if (path.length !== 1) return null;
  const key = new RegExp(`^\\s*(?:${path[0]}|"${path[0]}"|'${path[0]}')\\s*=`);
  const at = lines.slice(0, firstTable(lines)).findIndex((line) => key.test(line));
  return at === -1 ? null : at;
}

/** Returns the first line after the keys that precede all tables, before empty lines and the comments of the first table. */
function findRootEnd(lines: readonly string[]): number {
  const end = firstTable(lines);
  const last = lines.slice(0, end).findLastIndex((line) => !/^\s*(?:#|$)/.test(line));
  return last + 1;
}

function firstTable(lines: readonly string[]): number {
  const at = lines.findIndex((line) => /^\s*\[/.test(line));
  return at === -1 ? lines.length : at;
}

/** Returns the lines of a table, with the empty line before it; null if there is none. */
function findTable(lines: readonly string[], path: MemberPath): readonly [start: number, end: number] | null {
  const header = lines.findIndex((line) => line.trim() === headerOf(path));
  if (header === -1) return null;
  let end = header + 1;
  while (end < lines.length && /^\s*[\w"'-]+\s*=/.test(lines[end] as string)) end++;
  const start = header > 0 && lines[header - 1]?.trim() === "" ? header - 1 : header;
  return [start, end];
}

function appendTable(text: string, path: MemberPath, fields: Fields): string {
  const members = Object.entries(fields).map(
    ([name, value]) => `${keyName(name)} = ${JSON.stringify(value)}`,
  );
  const table = [headerOf(path), ...members].join("\n");
  const before = text.replace(/\n*$/, "");
  return before === "" ? `${table}\n` : `${before}\n\n${table}\n`;
}

function headerOf(path: MemberPath): string {
  return `[${path.map(keyName).join(".")}]`;
}

function keyName(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}
