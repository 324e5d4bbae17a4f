/** A command block of a page, and what the page shows as its output. */
export interface CommandBlock {
  /** The line of the page at which the block begins, from 1. */
  readonly line: number;
  readonly commands: string;
  /** Commands of a comment before the block, which readers do not see. They make the situation that the text describes. */
  readonly preparation: string;
  /** Why the block is not run; null if it is. */
  readonly notRun: string | null;
  /** The output that the page shows; null for none. */
  readonly output: string | null;
}

/** A comment before a block, the block, and the block of its output. */
const BLOCK =
  /(?:<!-- (?<kind>not run|before):(?<comment>[\s\S]*?)-->\n+)?```sh\n(?<commands>[\s\S]*?)```\n(?:\n```\n(?<output>[\s\S]*?)```\n)?/;
/** The content of a file, in any language. */
const FILE = /<!-- file: (?<name>\S+) -->\n+```\w+\n(?<content>[\s\S]*?)```\n/;
const FOUND = new RegExp(`${FILE.source}|${BLOCK.source}`, "g");

/**
 * Returns the blocks of commands (```` ```sh ````) of a page in Markdown, in order. A block without a language that follows one is its
 * output. The comment `<!-- not run: reason -->` before a block says why tests do not run it, and `<!-- before: commands -->` has
 * commands that they run first. `<!-- file: name -->` before any other block writes it to a file before the next commands.
 */
export function parsePage(text: string): readonly CommandBlock[] {
  const blocks: CommandBlock[] = [];
  let files = "";
  for (const found of text.matchAll(FOUND)) {
    const { kind, comment = "", name, content = "", commands = "", output } = found.groups as Groups;
    if (name !== undefined) {
      files += `cat > ${name} <<'END OF FILE'\n${content}END OF FILE\n`;
      continue;
    }
    const before = kind === "before" ? comment.trim() : "";
    blocks.push({
      line: text.slice(0, found.index).split("\n").length,
      commands,
      preparation: `${files}${before}`,
      notRun: kind === "not run" ? comment.trim() : null,
      output: output ?? null,
    });
    files = "";
  }
  return blocks;
}

type Groups = Readonly<Record<string, string | undefined>>;
