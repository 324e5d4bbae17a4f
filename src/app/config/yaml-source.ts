import type { Document, LineCounter, Node, YAMLMap } from "yaml";
import { escapeControls, hasControlsInLines } from "../../base/text/plain-text.ts";
import { ConfigError, type ConfigPath, type ConfigPlace, type ConfigProblem } from "./config-error.ts";

/** The text of a configuration file, parsed. */
export interface YamlSource {
  readonly file: string;
  readonly value: Record<string, unknown>;
  /** Returns the place of a path in the file, or of its longest prefix that exists. */
  readonly placeOf: (path: ConfigPath) => ConfigPlace;
  /** The repeated keys of mappings. There are none unless the reading accepts them. */
  readonly repeated: readonly RepeatedKey[];
}

/** A key that its mapping has more than once. The last one is read. */
export interface RepeatedKey {
  readonly name: string;
  readonly place: ConfigPlace;
}

/** How another program reads YAML. Keys may be repeated, and the last one is read. */
export interface YamlReading {
  /** Returns the value of a scalar without quotes. */
  readPlain(text: string): unknown;
}

/** Characters that a message shows of a value. */
const SHOWN_CHARS = 60;

/** Loads the library when there is something to parse or print: without a file, the gateway and all commands start sooner. */
export function loadYaml(): typeof import("yaml") {
  return require("yaml");
}

/**
 * Bounds of a configuration file. The parser's time grows with the square of some of these sizes, so a file that exceeds a bound is
 * rejected before it is parsed. The sum of lines, commas and opening brackets is at least the number of values.
 */
export const YAML_BOUNDS = { bytes: 4_194_304, values: 50_000, levels: 64, aliases: 1_000 } as const;

/**
 * Parses the text of a configuration file. `file` names it in messages.
 * @throws ConfigError with all errors of the syntax, if it is not a mapping, or if it exceeds a bound.
 */
export function parseYaml(text: string, file: string, reading?: YamlReading): YamlSource {
  if (text === "") return { file, value: {}, placeOf: () => ({ file, line: 1, column: 1 }), repeated: [] };
  rejectLarge(text, file);
  const lines = new (loadYaml().LineCounter)();
  const document = compose({ text, file, reading }, lines);
  const placeAt = (offset: number): ConfigPlace => {
    const { line, col } = lines.linePos(offset);
    // Without any text there is no line that begins.
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const repeated = findRepeatedKeys(document, placeAt);
  const problems = [
    ...document.errors.map(({ pos, message }) => at(placeAt(pos[0]), message)),
    ...(reading === undefined ? repeated.map(({ place }) => at(place, "Map keys must be unique")) : []),
    ...findFaults(document, placeAt),
    ...findControls(document, placeAt),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  if (reading !== undefined) readPlainScalars(document, reading);
  const placeOf = (path: ConfigPath) => placeAt(findOffset(document, path));
  return { file, value: readMapping(document, file), placeOf, repeated };
}

/** Replaces the texts of scalars without quotes and tags by the values that the reading gives them. */
function readPlainScalars(document: Document, { readPlain }: YamlReading): void {
  loadYaml().visit(document, {
    Scalar(key, node) {
      if (key !== "key" && node.type === "PLAIN" && node.tag === undefined && typeof node.value === "string")
        node.value = readPlain(node.value);
    },
  });
}

function at(place: ConfigPlace, text: string): ConfigProblem {
  return { place, path: [], variable: null, text };
}

function rejectLarge(text: string, file: string): void {
  if (text.length > YAML_BOUNDS.bytes)
    rejectExcess(file, 1, { what: "characters", bound: YAML_BOUNDS.bytes });
  let values = 0;
  let line = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE) line++;
    if (code !== NEWLINE && code !== COMMA && code !== BRACKET && code !== BRACE) continue;
    if (++values > YAML_BOUNDS.values)
      rejectExcess(file, line, { what: "values", bound: YAML_BOUNDS.values });
  }
}

const [NEWLINE, COMMA, BRACKET, BRACE] = [10, 44, 91, 123];

function rejectExcess(
  file: string,
  line: number,
  { what, bound }: { readonly what: string; readonly bound: number },
): never {
  const text = `has more than ${bound} ${what}, the maximum for a file. Use fewer, or split the file.`;
  throw new ConfigError([at({ file, line, column: 1 }, text)]);
}

interface Composed {
  readonly text: string;
  readonly file: string;
  readonly reading: YamlReading | undefined;
}

/** Parses a text as the library's `parseDocument` does, and rejects one that is nested too deep while it is read. */
function compose({ text, file, reading }: Composed, lines: LineCounter): Document {
  const { Composer, Lexer, Parser } = loadYaml();
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // Each level has up to two entries there: the collection and a value of it.
    if (parser.stack.length > 2 * YAML_BOUNDS.levels)
      rejectExcess(file, lines.lineStarts.length, { what: "levels of nesting", bound: YAML_BOUNDS.levels });
  }
  for (const token of parser.end()) tokens.push(token);
  // The library compares each key of a mapping with all others.
  const options = reading === undefined ? {} : ({ schema: "failsafe", merge: true } as const);
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, ...options });
  const [first, second] = [...composer.compose(tokens, true, text.length)];
  const document = first as unknown as Document;
  if (second !== undefined)
    document.errors.push(
      new (loadYaml().YAMLParseError)(
        [...second.range.slice(0, 2)] as [number, number],
        "MULTIPLE_DOCS",
        "Source contains multiple documents",
      ),
    );
  return document;
}

/** Finds the repeated keys of mappings. */
function findRepeatedKeys(document: Document, placeAt: (offset: number) => ConfigPlace): RepeatedKey[] {
  const found: RepeatedKey[] = [];
  loadYaml().visit(document, {
    Map(_, map) {
      for (const { name, offset } of findDuplicates(map)) found.push({ name, place: placeAt(offset) });
    },
  });
  return found;
}

/** Finds aliases without an anchor, or too many of them. */
function findFaults(document: Document, placeAt: (offset: number) => ConfigPlace): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const anchors = new Set<string>();
  let aliases = 0;
  loadYaml().visit(document, {
    Node: (_, node: Node & { readonly anchor?: string }) => {
      if (node.anchor !== undefined) anchors.add(node.anchor);
    },
    Alias(_, { range, source }) {
      const place = placeAt(range?.[0] ?? 0);
      if (++aliases > YAML_BOUNDS.aliases) {
        problems.push(at(place, `has more than ${YAML_BOUNDS.aliases} aliases`));
        return loadYaml().visit.BREAK;
      }
      if (!anchors.has(source))
        problems.push(at(place, `unknown alias *${source}: there is no anchor &${source}`));
      return undefined;
    },
  });
  return problems;
}

/** Finds keys and values with characters that a terminal or a page would obey: names of a configuration are shown in both. */
function findControls(document: Document, placeAt: (offset: number) => ConfigPlace): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  loadYaml().visit(document, {
    Scalar(_, { value, range }) {
      if (typeof value !== "string" || !hasControlsInLines(value)) return;
      const text = `${escapeControls(JSON.stringify(value.slice(0, SHOWN_CHARS)))} has control characters, or overrides of the direction of writing; remove them`;
      problems.push(at(placeAt(range?.[0] ?? 0), text));
    },
  });
  return problems;
}

/** Returns the repeated keys of a mapping, with their offsets. */
function findDuplicates({ items }: YAMLMap): { readonly name: string; readonly offset: number }[] {
  const { isScalar } = loadYaml();
  const keys = new Set<unknown>();
  const found: { readonly name: string; readonly offset: number }[] = [];
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (keys.has(key.value)) found.push({ name: String(key.value), offset: key.range?.[0] ?? 0 });
    keys.add(key.value);
  }
  return found;
}

function readMapping(document: Document, file: string): Record<string, unknown> {
  const first = { file, line: 1, column: 1 };
  let value: unknown;
  try {
    value = document.toJS() ?? {};
  } catch (error) {
    throw new ConfigError([at(first, (error as Error).message)]);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ConfigError([at(first, 'must be a mapping of keys to values, such as "log_level: info"')]);
}

interface YamlItem {
  readonly key?: unknown;
  readonly range?: readonly number[];
}

/** Returns the offset of a path in the text, or of its longest prefix that exists; 0 if there is none. */
function findOffset(document: Document, path: ConfigPath): number {
  const { isScalar } = loadYaml();
  for (let length = path.length; length > 0; length--) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const name = path[length - 1];
    const items = (parent as { readonly items?: readonly YamlItem[] } | null)?.items;
    const found = items?.findLast(({ key }, index) =>
      key === undefined ? index === name : isScalar(key) && String(key.value) === String(name),
    );
    const keyRange = isScalar(found?.key) ? found.key.range : undefined;
    const offset = keyRange?.[0] ?? found?.range?.[0];
    if (offset !== undefined) return offset;
  }
  return 0;
}
