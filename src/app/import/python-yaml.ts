import type { YamlReading } from "../config/yaml-source.ts";

/**
 * YAML as PyYAML reads it: version 1.1, in which `80_000` is a number, `010` is octal, `1:30` counts in sixties, and `yes` and `off` are
 * booleans, while `1e-6` and `1E5` are texts, because numbers need a point before an exponent with a sign.
 */
export const PYTHON_YAML: YamlReading = { readPlain };

const BOOLEANS: ReadonlyMap<string, boolean> = new Map(
  Object.entries({ yes: true, no: false, true: true, false: false, on: true, off: false }).flatMap(
    ([word, value]) => [
      [word, value],
      [word.toUpperCase(), value],
      [`${word.charAt(0).toUpperCase()}${word.slice(1)}`, value],
    ],
  ),
);

const NULLS: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"]);

/** The forms of whole numbers, with their bases. */
const WHOLE: readonly (readonly [form: RegExp, base: number])[] = [
  [/^0b([01_]+)$/, 2],
  [/^0x([0-9a-fA-F_]+)$/, 16],
  [/^0([0-7_]+)$/, 8],
  [/^(0|[1-9][0-9_]*)$/, 10],
];
const SEXAGESIMAL = /^[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const FLOAT = /^(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?$/;

function readPlain(text: string): unknown {
  if (NULLS.has(text)) return null;
  return BOOLEANS.get(text) ?? readNumber(text) ?? text;
}

/** Returns the number that a text is; undefined for a text. */
function readNumber(text: string): number | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  const digits = text.replace(/^[-+]/, "");
  // A number without a digit before its point has no sign.
  const isBare = digits === text;
  if (/^\.(?:inf|Inf|INF)$/.test(digits)) return sign * Number.POSITIVE_INFINITY;
  if (/^\.(?:nan|NaN|NAN)$/.test(text)) return Number.NaN;
  for (const [form, base] of WHOLE) {
    const found = form.exec(digits)?.[1]?.replaceAll("_", "");
    if (found !== undefined && found !== "") return sign * Number.parseInt(found, base);
  }
  const bare = digits.replaceAll("_", "");
  if (FLOAT.test(digits) && (isBare || !digits.startsWith("."))) return sign * Number(bare);
  if (SEXAGESIMAL.test(digits))
    return sign * bare.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return undefined;
}
