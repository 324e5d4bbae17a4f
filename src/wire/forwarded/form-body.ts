import { fail, rejectField } from "../../base/failures/errors.ts";
import { decodeUtf8 } from "../../base/json/scan.ts";
import { applySplices, type Splice } from "../../base/json/splice.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";

/** One part of a form. Its value is the bytes from `start` to `end`. */
interface FormPart {
  readonly name: string;
  /** Whether it is a file. */
  readonly isFile: boolean;
  /** The position of the file's name; null if it has none. */
  readonly fileName: { readonly start: number; readonly end: number } | null;
  readonly start: number;
  readonly end: number;
  /** The bytes from the part's boundary to the next one. */
  readonly from: number;
  readonly to: number;
}

/** A form (`multipart/form-data`, RFC 7578) that is forwarded: its bytes are unchanged, and the parts say where values stand. */
export interface FormBody {
  readonly bytes: Buffer;
  /** The media type with its boundary, as the client sent it. */
  readonly contentType: string;
  readonly parts: readonly FormPart[];
}

const CRLF = "\r\n";
const END_OF_HEAD = "\r\n\r\n";

/**
 * Finds the parts of a form without copying them.
 * @throws GatewayError `unsupported_media_type` for another media type; `invalid_request` for a form that is malformed, has too many parts, or a
 * field twice.
 */
export function readForm(bytes: Buffer, contentType: string | null): FormBody {
  const delimiter = `--${readBoundary(contentType)}`;
  const parts: FormPart[] = [];
  let at = bytes.indexOf(delimiter, 0, "latin1");
  if (at < 0) rejectForm("its boundary is not in the body");
  for (;;) {
    const head = at + delimiter.length;
    if (textAt(bytes, head, 2) === "--") {
      rejectTwice(parts);
      return { bytes, contentType: contentType as string, parts };
    }
    if (parts.length === BOUNDS.formParts) rejectForm(`it has more than ${BOUNDS.formParts} parts`);
    const part = readPart(bytes, { at, head, delimiter });
    parts.push(part);
    at = part.to;
  }
}

/** Rejects duplicate fields, because two readers may disagree on which one counts. Only `name[]` may be repeated. */
function rejectTwice(parts: readonly FormPart[]): void {
  const names = new Set<string>();
  for (const { name } of parts) {
    if (names.has(name) && !name.endsWith("[]")) rejectField(name, "is there twice; send it once");
    names.add(name);
  }
}

function rejectForm(problem: string): never {
  return fail("invalid_request", `The body is not a valid form: ${problem}. Send multipart/form-data.`);
}

function readBoundary(contentType: string | null): string {
  if (!/^\s*multipart\/form-data\b/i.test(contentType ?? ""))
    fail("unsupported_media_type", 'The body must be a form: send "content-type: multipart/form-data".');
  const found = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType ?? "");
  return found?.[1] ?? found?.[2] ?? rejectForm("its content-type names no boundary of 1 to 70 characters");
}

interface PartStart {
  /** Where the boundary begins, and where it ends. */
  readonly at: number;
  readonly head: number;
  readonly delimiter: string;
}

function readPart(bytes: Buffer, { at, head, delimiter }: PartStart): FormPart {
  const window = bytes.subarray(head, head + BOUNDS.formHeadBytes);
  const length = window.indexOf(END_OF_HEAD, 0, "latin1");
  if (textAt(bytes, head, 2) !== CRLF || length < 0)
    rejectForm(`the head of a part does not end within ${BOUNDS.formHeadBytes} bytes`);
  const start = head + length + END_OF_HEAD.length;
  const end = findEnd(bytes, start - CRLF.length, delimiter);
  const disposition = readDisposition(window.toString("latin1", 0, length), head);
  return { ...disposition, start, end: Math.max(start, end), from: at, to: end + CRLF.length };
}

/** Returns where the line break before the next boundary begins. An empty value has only one line break before it. */
function findEnd(bytes: Buffer, from: number, delimiter: string): number {
  for (let at = from; ; at += CRLF.length) {
    at = bytes.indexOf(CRLF + delimiter, at, "latin1");
    if (at < 0) rejectForm("it ends without its last boundary");
    // The value may have a line that only begins like the boundary.
    const after = textAt(bytes, at + CRLF.length + delimiter.length, 2);
    if (after === CRLF || after === "--") return at;
  }
}

/** Reads the head of a part, bytes as Latin-1, which begins at `at`. */
function readDisposition(head: string, at: number): Pick<FormPart, "name" | "isFile" | "fileName"> {
  const [line, another] = head.matchAll(DISPOSITION);
  if (line === undefined) return rejectForm("a part has no name");
  if (another !== undefined) return rejectForm("a part has two content-disposition lines");
  const names: string[] = [];
  let isFile = false;
  let fileName: FormPart["fileName"] = null;
  for (const { 1: parameter = "", 2: quoted, 3: plain = "", indices } of line[0].matchAll(PARAMETER)) {
    const word = parameter.toLowerCase();
    if (word === "name") names.push(quoted === undefined ? plain : quoted.replace(/\\(.)/g, "$1"));
    if (word === "name*") return rejectForm("a part has a name in the form name*=, which forms do not have");
    if (word !== "filename" && word !== "filename*") continue;
    isFile = true;
    const [from, to] = indices?.[2] ?? indices?.[3] ?? [0, 0];
    fileName = { start: at + line.index + from, end: at + line.index + to };
  }
  const [name] = names;
  if (name === undefined) return rejectForm("a part has no name");
  return names.length === 1
    ? { name: decodeUtf8(name), isFile, fileName }
    : rejectForm("a part has two names");
}

const DISPOSITION = /^content-disposition:.*$/gim;

/** A parameter of a header: its name, and its value with or without quotes. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/dg;

function textAt(bytes: Buffer, at: number, length: number): string {
  return bytes.toString("latin1", at, at + length);
}

/**
 * Returns the text of a field; null if it is absent.
 * @throws GatewayError `invalid_request` for a field that is a file, or is too long.
 */
export function readFormText({ bytes, parts }: FormBody, name: string): string | null {
  const part = parts.find((one) => one.name === name);
  if (part === undefined) return null;
  if (part.isFile) rejectField(name, "must be a text, not a file");
  if (part.end - part.start > BOUNDS.formTextBytes)
    rejectField(name, `must have at most ${BOUNDS.formTextBytes} bytes`);
  return bytes.toString("utf8", part.start, part.end);
}

/**
 * Returns the bytes of a file, which are a view of the form.
 * @throws GatewayError `invalid_request` if there is none, or an empty one.
 */
export function requireFormFile({ bytes, parts }: FormBody, name: string): Buffer {
  const part = parts.find((one) => one.name === name);
  if (part === undefined || !part.isFile) return rejectField(name, "is required: a part with a filename");
  return part.end > part.start
    ? bytes.subarray(part.start, part.end)
    : rejectField(name, "must not be empty");
}

/** Returns a copy of a form with another text in a field, and without the parts of these names. */
export function editForm(
  { bytes, parts }: FormBody,
  {
    set,
    remove,
  }: { readonly set: readonly [name: string, text: string]; readonly remove: ReadonlySet<string> },
): Buffer {
  const [name, text] = set;
  const splices = parts.flatMap((part): Splice[] => {
    if (part.name === name) return [{ start: part.start, end: part.end, insert: text }];
    return remove.has(part.name) ? [{ start: part.from, end: part.to, insert: "" }] : [];
  });
  return applySplices(bytes, splices);
}
