import type { ReadStream } from "node:tty";
import { write } from "./print.ts";

const ENTER = new Set(["\r", "\n", "\u0004"]);
const INTERRUPT = "\u0003";
const ERASE = new Set(["\u007f", "\b"]);

/**
 * Reads a secret from standard input: the whole input of a file or pipe, or one line typed without echo. Secrets are not accepted as
 * arguments, because every process on the machine can read those.
 * @throws Error if the input is empty.
 */
export async function readSecret(prompt: string): Promise<string> {
  const { stdin } = process;
  const text = stdin.isTTY ? await readWithoutEcho(stdin, prompt) : await Bun.stdin.text();
  const secret = text.trim();
  if (secret === "") throw new Error("No key was given. Type it, or pipe it to standard input.");
  return secret;
}

function readWithoutEcho(stdin: ReadStream, prompt: string): Promise<string> {
  write(prompt);
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.resume();
  return new Promise((resolve, reject) => {
    let typed = "";
    const end = (): void => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
      write("\n");
    };
    const onData = (data: string): void => {
      for (const char of data) {
        if (char === INTERRUPT || ENTER.has(char)) {
          end();
          if (char === INTERRUPT) reject(new Error("Cancelled; nothing was stored."));
          resolve(typed);
          return;
        }
        typed = ERASE.has(char) ? typed.slice(0, -1) : typed + char;
      }
    };
    stdin.on("data", onData);
  });
}
