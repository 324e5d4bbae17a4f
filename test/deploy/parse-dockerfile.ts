/** One instruction of a Dockerfile. */
export interface Instruction {
  readonly name: string;
  /** Options such as `--from=build`, by name. */
  readonly options: Readonly<Record<string, string>>;
  /** The rest of the line. Continued lines are joined. */
  readonly text: string;
}

/** Parses the instructions of a Dockerfile, in order. */
export function parseDockerfile(text: string): readonly Instruction[] {
  const lines = text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll("\\\n", " ")
    .split("\n");
  return lines.filter((line) => line.trim() !== "").map(parseInstruction);
}

function parseInstruction(line: string): Instruction {
  const [name = "", ...words] = line.trim().split(/\s+/);
  const isOption = (word: string) => word.startsWith("--");
  const count = words.findIndex((word) => !isOption(word));
  const options = words.slice(0, count).map((word): [string, string] => {
    const at = word.indexOf("=");
    return [word.slice(2, at), word.slice(at + 1)];
  });
  return { name, options: Object.fromEntries(options), text: words.slice(count).join(" ") };
}

/** Splits `NAME=value NAME="value"`. */
export function parsePairs(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)];
  return Object.fromEntries(pairs.map(([, name, quoted, plain]) => [name, quoted ?? plain ?? ""]));
}
