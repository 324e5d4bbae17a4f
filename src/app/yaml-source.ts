import type { Document } from "yaml";
import { escapeControls, hasControlsInLines } from "../base/plain-text.ts";
import { ConfigError, type ConfigPath, type ConfigPlace, type ConfigProblem } from "./config-error.ts";

/** The text of a configuration file, parsed. */
export interface YamlSource {
  readonly file: string;
  readonly value: Record<string, unknown>;
  /** Returns where a path is written, or its longest prefix that exists. */
  readonly placeOf: (path: ConfigPath) => ConfigPlace;
}

/** Characters that a message shows of a value. */
const SHOWN_CHARS = 60;

/** Loads the library when there is something to parse or print: without a file, the gateway and all commands start sooner. */
export function loadYaml(): typeof import("yaml") {
  return require("yaml");
}

/**
 * Parses the text of a configuration file. `file` names it in messages.
 * @throws ConfigError with all errors of the syntax, or if it is not a mapping.
 */
export function parseYaml(text: string, file: string): YamlSource {
  if (text === "") return { file, value: {}, placeOf: () => ({ file, line: 1, column: 1 }) };
  const { LineCounter, parseDocument } = loadYaml();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeAt = (offset: number): ConfigPlace => {
    const { line, col } = lines.linePos(offset);
    // Without any text there is no line that begins.
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems = [
    ...document.errors.map(({ pos, message }) => at(placeAt(pos[0]), message)),
    ...findUnknownAliases(document, placeAt),
    ...findControls(document, placeAt),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  const placeOf = (path: ConfigPath) => placeAt(findOffset(document, path));
  return { file, value: readMapping(document, file), placeOf };
}

function at(place: ConfigPlace, text: string): ConfigProblem {
  return { place, path: [], variable: null, text };
}

function findUnknownAliases(document: Document, placeAt: (offset: number) => ConfigPlace): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  loadYaml().visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const place = placeAt(alias.range?.[0] ?? 0);
      problems.push(at(place, `unknown alias *${alias.source}: there is no anchor &${alias.source}`));
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
    const found = items?.find(({ key }, index) =>
      key === undefined ? index === name : isScalar(key) && String(key.value) === String(name),
    );
    const keyRange = isScalar(found?.key) ? found.key.range : undefined;
    const offset = keyRange?.[0] ?? found?.range?.[0];
    if (offset !== undefined) return offset;
  }
  return 0;
}
