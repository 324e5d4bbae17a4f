import type { ReadStream } from "node:tty";

const ENTER = new Set(["\r", "\n", "\u0004"]);
const INTERRUPT = "\u0003";
const ERASE = new Set(["\u007f", "\b"]);

/**
 * A secret from standard input: all of it where it is a file or a pipe, a line that is not shown where a person types.
 * Never from the command line, where every process of the machine could read it.
 * @throws Error where there is none.
 */
export async function readSecret(prompt: string): Promise<string> {
  const { stdin } = process;
  const text = stdin.isTTY ? await readUnseen(stdin, prompt) : await Bun.stdin.text();
  const secret = text.trim();
  if (secret === "")
    throw new Error("No key was given: type it, or send it to standard input, such as from a file");
  return secret;
}

function readUnseen(stdin: ReadStream, prompt: string): Promise<string> {
  process.stderr.write(prompt);
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.resume();
  return new Promise((resolve, reject) => {
    let typed = "";
    const end = (): void => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
      process.stderr.write("\n");
    };
    const onData = (data: string): void => {
      for (const char of data) {
        if (char === INTERRUPT || ENTER.has(char)) {
          end();
          if (char === INTERRUPT) reject(new Error("Nothing was stored"));
          resolve(typed);
          return;
        }
        typed = ERASE.has(char) ? typed.slice(0, -1) : typed + char;
      }
    };
    stdin.on("data", onData);
  });
}
