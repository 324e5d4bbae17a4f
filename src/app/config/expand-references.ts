import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ConfigPath, ConfigPlace, ConfigProblem } from "./config-error.ts";
import type { Environment } from "./read-provider-keys.ts";
import { schemasAt } from "./schema-paths.ts";

/**
 * References in the values of a configuration. In a file they are `${NAME}`, `${NAME:-default}` and `${file:/path}`, in the stored
 * configuration `${secret:id}`. `$${` means a literal `${`. The result of an expansion is not expanded again. Within the user and the
 * password of a URL it is percent-encoded.
 */

/** The maximum size of the text that one reference expands to. Bytes. */
const MAX_BYTES = 65_536;
/** The maximum size of the texts that all references of a file expand to. Bytes. */
const MAX_TOTAL_BYTES = 1_048_576;

/** The source of a value: a variable, a file, or a secret of the stored configuration. */
export type Reference =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "secret"; readonly id: string };

/** A value of a configuration file that has references. */
export interface ReferringValue {
  readonly path: ConfigPath;
  readonly references: readonly Reference[];
}

/** The expanded content of a configuration file. */
interface Expanded {
  readonly value: Record<string, unknown>;
  /** The values that had references. */
  readonly referring: readonly ReferringValue[];
  readonly problems: readonly ConfigProblem[];
}

/** Parts of names of variables that contain secrets. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i;

/** Returns whether a value with these references may be a secret: they name a secret, a file, or a variable whose name suggests one. */
export function mayBeSecret(references: readonly Reference[]): boolean {
  return references.some((reference) => reference.kind !== "variable" || SECRET_NAME.test(reference.name));
}

/** Returns a reference in its written form, without its default: `NAME`, `file:/path`, `secret:id`. */
export function formatReference(reference: Reference): string {
  switch (reference.kind) {
    case "variable":
      return reference.name;
    case "file":
      return `file:${reference.path}`;
    case "secret":
      return `secret:${reference.id}`;
  }
}

/** The text of a reference, or the problem with it. */
type Resolved = { readonly text: string } | string;

/** Resolves the inner text of a reference, and adds the reference to `found`. */
type Resolver = (inner: string, found: Reference[]) => Resolved;

/** The dependencies of expanding the references of a file. */
interface FileSources {
  readonly environment: Environment;
  readonly placeOf: (path: ConfigPath) => ConfigPlace;
}

/** Expands the references in all texts of a configuration file. Keys are not expanded. */
export function expandReferences(value: Record<string, unknown>, sources: FileSources): Expanded {
  const resolve: Resolver = (inner, found) => resolveInFile(inner, found, sources.environment);
  return expand(value, { resolve, placeOf: sources.placeOf });
}

/**
 * Expands the references to secrets in all texts of a stored configuration. `findSecret` returns a secret by its id, or the problem with it.
 * A stored configuration refers to no variable and no file, so that its author need not be trusted with those of the machine.
 */
export function expandSecrets(
  value: Record<string, unknown>,
  findSecret: (id: string) => Resolved,
): Expanded {
  const resolve: Resolver = (inner, found) => {
    const id = SECRET.exec(inner)?.[1];
    if (id === undefined) return SECRET_FORM;
    found.push({ kind: "secret", id });
    return findSecret(id);
  };
  return expand(value, { resolve, placeOf: () => null });
}

/** Returns the ids of the secrets that a stored value refers to. */
export function listSecretIds(value: unknown): readonly string[] {
  const { referring } = expandSecrets({ value }, () => ({ text: "" }));
  return referring.flatMap(({ references }) =>
    references.flatMap((reference) => (reference.kind === "secret" ? reference.id : [])),
  );
}

interface ExpansionSources {
  readonly resolve: Resolver;
  readonly placeOf: (path: ConfigPath) => ConfigPlace | null;
}

function expand(value: Record<string, unknown>, sources: ExpansionSources): Expanded {
  const expansion = new Expansion(sources);
  const expanded = expansion.expand(value, []) as Record<string, unknown>;
  return { value: expanded, referring: expansion.referring, problems: expansion.problems };
}

/**
 * Returns the range of user and password in a text that is a URL. A reference that expands in this range is percent-encoded, so that a
 * password may contain any characters.
 */
function findCredentials(text: string): { readonly from: number; readonly to: number } {
  // A reference has slashes itself.
  const outline = text.replace(REFERENCE, (whole) => "x".repeat(whole.length));
  const [start = "", authority = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(outline) ?? [];
  const from = start.length - authority.length;
  return { from, to: from + Math.max(0, authority.lastIndexOf("@")) };
}

const REFERENCE = /\$\$\{|\$\{([^}]*)(\})?/g;
const VARIABLE = /^([A-Za-z_]\w*)(?::-([\s\S]*))?$/;
const FILE = /^file:(.+)$/s;
const SECRET = /^secret:([a-z0-9][a-z0-9._-]{0,63})$/;
const SECRET_FORM =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
  "must be ${secret:id}: variables and files can only be referred to in the configuration file; write $${ for a literal ${";
const FORMS =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
  "must be ${NAME}, ${NAME:-default} or ${file:/path}; write $${ for a literal ${";

class Expansion {
  readonly referring: ReferringValue[] = [];
  readonly problems: ConfigProblem[] = [];
  private totalBytes = 0;

  constructor(private readonly sources: ExpansionSources) {}

  expand(value: unknown, path: ConfigPath): unknown {
    if (typeof value === "string") return value.includes("${") ? this.expandText(value, path) : value;
    if (Array.isArray(value)) return value.map((item, index) => this.expand(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.expand(member, [...path, name])]),
    );
  }

  private expandText(text: string, path: ConfigPath): unknown {
    const found: Reference[] = [];
    const problems: string[] = [];
    const credentials = findCredentials(text);
    const expanded = text.replace(
      REFERENCE,
      (whole, inner: string | undefined, end: string | undefined, at: number) => {
        // The escape of the beginning of a reference.
        if (inner === undefined) return "${";
        const result = this.sources.resolve(end === undefined ? "" : inner, found);
        if (typeof result !== "string")
          return this.count(
            at >= credentials.from && at < credentials.to ? encodeURIComponent(result.text) : result.text,
            problems,
          );
        problems.push(`has ${JSON.stringify(whole.slice(0, 100))}: ${result}`);
        return "";
      },
    );
    if (found.length > 0) this.referring.push({ path, references: found });
    const place = this.sources.placeOf(path);
    for (const problem of problems) this.problems.push({ place, path, variable: null, text: problem });
    return found.length > 0 && problems.length === 0 ? convert(expanded, path) : expanded;
  }

  private count(text: string, problems: string[]): string {
    this.totalBytes += Buffer.byteLength(text);
    if (this.totalBytes <= MAX_TOTAL_BYTES) return text;
    problems.push(`is too large: all references together may expand to ${MAX_TOTAL_BYTES} bytes`);
    return "";
  }
}

function resolveInFile(inner: string, found: Reference[], environment: Environment): Resolved {
  const file = FILE.exec(inner)?.[1];
  if (file !== undefined) {
    found.push({ kind: "file", path: file });
    return readBounded(file);
  }
  const [, name, fallback] = VARIABLE.exec(inner) ?? [];
  if (name === undefined) return FORMS;
  found.push({ kind: "variable", name });
  const set = environment[name];
  const text = fallback !== undefined && (set === undefined || set === "") ? fallback : set;
  if (text === undefined) return `the environment variable ${name} is not set`;
  if (Buffer.byteLength(text) > MAX_BYTES) return `${name} has more than ${MAX_BYTES} bytes`;
  return { text };
}

/** Returns the content of a file of at most 64 KiB without trailing newlines, or the problem with it. */
export function readBounded(path: string): { readonly text: string } | string {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    return `the file cannot be read: ${(error as Error).message}`;
  }
  try {
    // A pipe or a device could keep the start waiting for ever.
    if (!fstatSync(descriptor).isFile()) return "it is not a regular file";
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (length > MAX_BYTES) return `the file has more than ${MAX_BYTES} bytes`;
    return { text: bytes.toString("utf8", 0, length).replace(/[\r\n]+$/, "") };
  } catch (error) {
    return `the file cannot be read: ${(error as Error).message}`;
  } finally {
    closeSync(descriptor);
  }
}

/** Converts an expanded text to the type of its setting: a number or a boolean, if the setting does not accept text. */
function convert(text: string, path: ConfigPath): unknown {
  const schemas = schemasAt(path);
  const takes = (...types: string[]) =>
    schemas.some(({ type }) => type !== undefined && types.includes(type));
  if (takes("integer", "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (takes("boolean") && /^(true|false)$/.test(text)) return text === "true";
  return text;
}
