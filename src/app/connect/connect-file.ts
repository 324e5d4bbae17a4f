import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { asFields, type Fields } from "../../base/json/fields.ts";
import type { MemberEdit } from "./client-files.ts";
import { type MemberPath, memberAt, type TextEditor, withMember } from "./text-editor.ts";

/** The largest configuration file of a client that is edited. Bytes. */
const MAX_BYTES = 4_194_304;
const OWNER_ONLY = 0o600;

/** The ending of the file beside a changed file that keeps its former contents. */
const RECORD = ".before-gateway.json";

/** A member that was written. `before` is absent if the file did not have it. */
interface WrittenMember {
  readonly path: MemberPath;
  readonly written: unknown;
  readonly before?: unknown;
}

/** The contents of the record beside a changed file: its backup, and what was written. */
interface ChangeRecord {
  /** The whole text before the first change; null if there was no file. */
  readonly text: string | null;
  readonly changed: string;
  readonly members: readonly WrittenMember[];
}

/** A change of a file that is not written yet. */
export interface FileChange {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** Members that were changed since, and stay as they are. */
  readonly kept: readonly string[];
  apply(): void;
}

/**
 * Plans to write members into a file.
 * @throws Error if the file cannot be read or parsed, or if another value in it is in the way.
 */
export function planConnect(
  file: string,
  editor: TextEditor,
  { edits, hasSecret }: { readonly edits: readonly MemberEdit[]; readonly hasSecret: boolean },
): FileChange {
  const text = readText(file);
  const fields = parseFile(file, text ?? "", editor);
  const due = edits.filter(({ path, value }) => !Bun.deepEquals(memberAt(fields, path), value));
  const after = due.reduce((edited, { path, value }) => editor.set(edited, path, value), text ?? "");
  const expected = due.reduce((all, { path, value }) => withMember(all, path, value), fields);
  requireMeaning(file, after, { editor, expected });
  const earlier = readRecord(file);
  const apply = (): void => {
    const members = mergeMembers(earlier?.members ?? [], due, fields);
    const record: ChangeRecord = { text: earlier === null ? text : earlier.text, changed: after, members };
    mkdirSync(dirname(file), { recursive: true });
    // First the way back: a crash in between loses nothing.
    writeOwn(file + RECORD, JSON.stringify(record));
    writeOwn(file, after, hasSecret);
  };
  return { file, before: text ?? "", after, kept: [], apply };
}

/**
 * Plans to take back what was written into a file. Members that have other values by now stay.
 * @throws Error if nothing was written into it, or if it cannot be read or parsed.
 */
export function planUndo(file: string, editor: TextEditor): FileChange {
  const record = readRecord(file);
  if (record === null)
    throw new Error(`${file} was not changed by gateway connect: there is no ${file}${RECORD}`);
  const text = readText(file) ?? "";
  const isUntouched = text === record.changed;
  const { after, kept } = isUntouched
    ? { after: record.text ?? "", kept: [] }
    : undoMembers(file, text, { record, editor });
  const isGone =
    after.trim() === "" || (record.text === null && Object.keys(editor.parse(after)).length === 0);
  const apply = (): void => {
    if (isGone && record.text === null) rmSync(file, { force: true });
    else writeOwn(file, after);
    rmSync(file + RECORD);
  };
  return { file, before: text, after: isGone && record.text === null ? "" : after, kept, apply };
}

interface Undoing {
  readonly record: ChangeRecord;
  readonly editor: TextEditor;
}

/** Takes back each member whose value is the one that was written. */
function undoMembers(file: string, text: string, { record, editor }: Undoing) {
  const fields = parseFile(file, text, editor);
  const isWritten = ({ path, written }: WrittenMember) => Bun.deepEquals(memberAt(fields, path), written);
  const own = record.members.filter(isWritten);
  const kept = record.members.filter(
    (member) => !isWritten(member) && memberAt(fields, member.path) !== undefined,
  );
  const after = own.reduce(
    (edited, member) =>
      "before" in member
        ? editor.set(edited, member.path, member.before)
        : editor.remove(edited, member.path),
    text,
  );
  const expected = own.reduce((all, { path, before }) => withMember(all, path, before), fields);
  requireMeaning(file, after, { editor, expected });
  return { after, kept: kept.map(({ path }) => path.join(".")) };
}

/** Joins members that were written before with new ones. What was there before the first change stays known. */
function mergeMembers(
  earlier: readonly WrittenMember[],
  due: readonly MemberEdit[],
  fields: Fields,
): readonly WrittenMember[] {
  const byPath = new Map(earlier.map((member) => [member.path.join("\0"), member]));
  for (const { path, value } of due) {
    const key = path.join("\0");
    const known = byPath.get(key);
    const before = memberAt(fields, path);
    const isNew = known === undefined || !Bun.deepEquals(before, known.written);
    const first = isNew
      ? before === undefined
        ? {}
        : { before }
      : "before" in known
        ? { before: known.before }
        : {};
    byPath.set(key, { path, written: value, ...first });
  }
  return [...byPath.values()];
}

function readText(file: string): string | null {
  if (!existsSync(file)) return null;
  if (statSync(file).size > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES} bytes`);
  return readFileSync(file, "utf8");
}

function parseFile(file: string, text: string, editor: TextEditor): Fields {
  try {
    return editor.parse(text);
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}. Correct it; nothing was changed.`);
  }
}

interface Meaning {
  readonly editor: TextEditor;
  readonly expected: Fields;
}

/** Verifies that an edited text means what it should. @throws Error */
function requireMeaning(file: string, text: string, { editor, expected }: Meaning): void {
  if (hasMeaning(text, { editor, expected })) return;
  throw new Error(
    `${file} is written in a way that cannot be edited safely. Nothing was changed. --dry-run with another --file shows what to add by hand.`,
  );
}

function hasMeaning(text: string, { editor, expected }: Meaning): boolean {
  try {
    return Bun.deepEquals(editor.parse(text), expected);
  } catch {
    return false;
  }
}

function readRecord(file: string): ChangeRecord | null {
  const text = readText(file + RECORD);
  if (text === null) return null;
  const record = asFields(parseOrNull(text));
  if (record === null || !Array.isArray(record["members"])) throw new Error(`${file}${RECORD} is damaged`);
  return record as unknown as ChangeRecord;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Writes a file in one step, with its mode, or so that only its owner reads it. A link stays one. */
function writeOwn(file: string, text: string, isSecret = false): void {
  const exists = existsSync(file);
  const target = exists ? realpathSync(file) : file;
  const mode = exists && !isSecret ? statSync(target).mode & 0o777 : OWNER_ONLY;
  const temporary = `${target}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: OWNER_ONLY });
  chmodSync(temporary, mode);
  renameSync(temporary, target);
}
