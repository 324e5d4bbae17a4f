import { dirname, join } from "node:path";
import type { ReadSchema } from "./read-openapi.ts";
import type { Schema } from "./schema.ts";

/** The parameter types of an SDK for Python that Stainless generated: sources by path, such as `types/chat/completion_create_params.py`. */
export type Sources = Readonly<Record<string, string>>;

/** A class of a file: its bases, and its fields with their types as written. */
interface ClassSource {
  readonly bases: readonly string[];
  readonly isTotal: boolean;
  /** It has further members. Only classes of answers say so; some of these are sent back. */
  readonly isOpen: boolean;
  readonly fields: readonly (readonly [name: string, type: string])[];
}

/** The definitions of a file. */
interface FileSource {
  readonly path: string;
  readonly classes: ReadonlyMap<string, ClassSource>;
  readonly aliases: ReadonlyMap<string, string>;
  /** Where an imported name comes from. */
  readonly imports: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
}

/** Reads a request from the typed dictionaries of an SDK. @throws Error if a name or an expression is not understood. */
export function readTypedDicts(sources: Sources, path: string, name: string): ReadSchema {
  const reader = new TypedDictReader(sources);
  const reference = reader.resolve(reader.file(path), name);
  const { [reference.$ref as string]: body = {}, ...definitions } = reader.definitions;
  return { body, definitions };
}

class TypedDictReader {
  readonly definitions: Record<string, Schema> = {};
  private readonly files = new Map<string, FileSource>();

  constructor(private readonly sources: Sources) {}

  file(path: string): FileSource {
    const known = this.files.get(path);
    if (known !== undefined) return known;
    const text = this.sources[path];
    if (text === undefined) throw new Error(`the SDK has no ${path}`);
    const read = readFile(path, text);
    this.files.set(path, read);
    return read;
  }

  /** Resolves a name in a file; a class becomes a definition. */
  resolve(file: FileSource, name: string): Schema {
    const builtin = BUILTINS[name];
    if (builtin !== undefined) return builtin;
    if (file.classes.has(name) || file.aliases.has(name)) return this.define(file, name);
    const imported = file.imports.get(name);
    if (imported === undefined) throw new Error(`${file.path} does not define ${name}`);
    return this.resolve(this.file(this.locate(imported.from, imported.name)), imported.name);
  }

  private define(file: FileSource, name: string): Schema {
    const id = `${file.path.replace(/^types\/|\.py$/g, "").replaceAll("/", ".")}.${name}`;
    if (!Object.hasOwn(this.definitions, id)) {
      this.definitions[id] = {};
      const alias = file.aliases.get(name);
      this.definitions[id] =
        alias === undefined
          ? this.readClass(file, name)
          : new Expression(alias, (one) => this.resolve(file, one)).read();
    }
    return { $ref: id };
  }

  private readClass(file: FileSource, name: string): Schema {
    const source = file.classes.get(name) as ClassSource;
    const inherited = source.bases.map(
      (base) => this.definitions[this.resolve(file, base).$ref as string] as Schema,
    );
    const properties: Record<string, Schema> = Object.assign(
      {},
      ...inherited.map((one) => one.properties ?? {}),
    );
    const required = inherited.flatMap((one) => one.required ?? []);
    for (const [field, type] of source.fields) {
      const alias = /alias="([^"]+)"/.exec(type)?.[1] ?? field;
      properties[alias] = new Expression(type, (one) => this.resolve(file, one)).read();
      if (/^Required\[/.test(type) || (source.isTotal && !/^(Optional|NotRequired)\[/.test(type)))
        required.push(alias);
    }
    return {
      type: "object",
      properties,
      ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
      // Without a field it stands for a JSON Schema or the like.
      ...(source.isOpen || Object.keys(properties).length === 0 ? { additionalProperties: true } : {}),
    };
  }

  /** The file of a module; of a package, the file that the package takes the name from. */
  private locate(module: string, name: string): string {
    if (this.sources[`${module}.py`] !== undefined) return `${module}.py`;
    const packageFile = this.file(join(module, "__init__.py"));
    const imported = packageFile.imports.get(name);
    if (imported === undefined) throw new Error(`${module} does not export ${name}`);
    return this.locate(imported.from, imported.name);
  }
}

const ANYTHING: Schema = {};
const BUILTINS: Readonly<Record<string, Schema>> = {
  str: { type: "string" },
  int: { type: "integer" },
  float: { type: "number" },
  bool: { type: "boolean" },
  None: { type: "null" },
  object: ANYTHING,
  Any: ANYTHING,
  Base64FileInput: { type: "string" },
  FileTypes: { type: "string" },
  datetime: { type: "string" },
  date: { type: "string" },
  Dict: { type: "object", additionalProperties: true },
};

/** A type expression of Python, such as `Optional[Iterable[Message]]`. */
class Expression {
  private at = 0;
  private readonly tokens: readonly string[];

  constructor(
    text: string,
    private readonly resolve: (name: string) => Schema,
  ) {
    this.tokens = text.match(/"[^"]*"|-?[\d.]+|[\w.]+|[[\](),|=]/g) ?? [];
  }

  read(): Schema {
    const first = this.readOne();
    if (this.tokens[this.at] !== "|") return first;
    const all = [first];
    while (this.tokens[this.at] === "|") {
      this.at++;
      all.push(this.readOne());
    }
    return { anyOf: all };
  }

  private readOne(): Schema {
    const word = this.next();
    if (word.startsWith('"')) return this.resolve(word.slice(1, -1));
    if (word === "(") {
      const inner = this.read();
      this.at++;
      return inner;
    }
    const name = word.slice(word.lastIndexOf(".") + 1);
    if (this.tokens[this.at] !== "[") return this.resolve(name);
    this.at++;
    if (name === "Literal") return { enum: this.readLiterals() };
    const parts = this.readParts();
    return combine(name, parts);
  }

  private readParts(): Schema[] {
    const parts: Schema[] = [];
    while (this.tokens[this.at] !== "]") {
      if (this.tokens[this.at + 1] === "(" && this.tokens[this.at] !== "(") this.skipCall();
      else parts.push(this.read());
      if (this.tokens[this.at] === ",") this.at++;
    }
    this.at++;
    return parts;
  }

  private readLiterals(): unknown[] {
    const values: unknown[] = [];
    for (let token = this.next(); token !== "]"; token = this.next())
      if (token !== ",") values.push(readLiteral(token));
    return values;
  }

  private skipCall(): void {
    while (this.next() !== ")");
  }

  private next(): string {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new Error(`a type ends early: ${this.tokens.join(" ")}`);
    return token;
  }
}

function readLiteral(token: string): unknown {
  if (token.startsWith('"')) return token.slice(1, -1);
  if (token === "True" || token === "False") return token === "True";
  return token === "None" ? null : Number(token);
}

function combine(name: string, parts: readonly Schema[]): Schema {
  const [first = {}, second = {}] = parts;
  if (["Required", "NotRequired", "Annotated"].includes(name)) return first;
  if (name === "Optional") return { anyOf: [first, { type: "null" }] };
  if (name === "Union") return { anyOf: parts };
  if (["Iterable", "List", "Sequence", "SequenceNotStr"].includes(name))
    return { type: "array", items: first };
  if (["Dict", "Mapping"].includes(name))
    return { type: "object", additionalProperties: Object.keys(second).length === 0 ? true : second };
  throw new Error(`the type ${name} is not known`);
}

function readFile(path: string, text: string): FileSource {
  const code = text.replaceAll(/"""[\s\S]*?"""/g, "").replaceAll(/#.*$/gm, "");
  const classes = new Map<string, ClassSource>();
  for (const [, name = "", bases = "", body = ""] of code.matchAll(
    /^class (\w+)\(([^)]*)\):((?:\n(?:[ \t].*)?)*)/gm,
  ))
    classes.set(name, readClassSource(bases, body));
  for (const [, name = "", body = ""] of code.matchAll(/^(\w+) = TypedDict\(\s*"\w+",\s*\{([\s\S]*?)\},/gm))
    classes.set(name, {
      bases: [],
      isTotal: false,
      isOpen: false,
      fields: readFields(body, /^\s*"([^"]+)"\s*:/),
    });
  const aliases = new Map<string, string>();
  for (const match of code.matchAll(/^(\w+)(?:: (?:\(\s*)?TypeAlias(?:\s*\))?)? = /gm)) {
    const [whole, name = ""] = match;
    if (!classes.has(name) && name !== "__all__")
      aliases.set(name, untilBalanced(code, match.index + whole.length));
  }
  return { path, classes, aliases, imports: readImports(path, code) };
}

function readClassSource(bases: string, body: string): ClassSource {
  const names = bases.split(",").map((one) => one.trim());
  const [own = "", further] = body.split("    if TYPE_CHECKING:");
  return {
    isOpen: further !== undefined,
    bases: names.filter(
      (one) => one !== "" && one !== "TypedDict" && one !== "BaseModel" && !one.includes("="),
    ),
    isTotal: !bases.includes("total=False"),
    fields: readFields(own, /^\s+(\w+)\s*:/),
  };
}

function readFields(body: string, pattern: RegExp): readonly (readonly [string, string])[] {
  const fields: (readonly [string, string])[] = [];
  for (const match of body.matchAll(new RegExp(pattern, "gm")))
    if (isOutside(body, match.index))
      fields.push([match[1] as string, untilBalanced(body, match.index + match[0].length)]);
  return fields;
}

/** Whether a position is outside of brackets: a line in a type that goes over several lines is no field. */
function isOutside(text: string, at: number): boolean {
  const before = text.slice(0, at);
  return (before.match(/[[(]/g) ?? []).length === (before.match(/[\])]/g) ?? []).length;
}

/** The text from a position to the end of the line on which all brackets are closed; a default value and a comma are cut. */
function untilBalanced(text: string, from: number): string {
  let depth = 0;
  let end = from;
  for (; end < text.length; end++) {
    const char = text[end] as string;
    if ("[(".includes(char)) depth++;
    if ("])".includes(char)) depth--;
    if (depth === 0 && (char === "\n" || char === ",")) break;
  }
  return text
    .slice(from, end)
    .replace(/ = .*$/s, "")
    .trim();
}

function readImports(path: string, code: string): FileSource["imports"] {
  const imports = new Map<string, { from: string; name: string }>();
  for (const [, dots = "", module = "", list = ""] of code.matchAll(
    /^from (\.+)([\w.]*) import (\([^)]*\)|.*)$/gm,
  )) {
    const from = join(dirname(path), "../".repeat(dots.length - 1), module.replaceAll(".", "/"));
    for (const one of list.replaceAll(/[()\n]/g, " ").split(",")) {
      const [name = "", alias = name] = one.trim().split(/ as /);
      if (name !== "") imports.set(alias, { from, name });
    }
  }
  return imports;
}
