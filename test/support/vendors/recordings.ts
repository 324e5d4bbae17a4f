import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of recorded provider answers, next to the project and not part of it. */
export const RECORDINGS = join(import.meta.dir, "../../../../shared/wire");

/**
 * Hand-written answers in each provider's documented format, so that the project has examples of every format.
 */
const HANDMADE = join(import.meta.dir, "handmade");

/**
 * Whether recorded answers are available. Tests that need particular ones, or many, are skipped without them.
 */
export const hasRecordings = existsSync(RECORDINGS);
if (!hasRecordings)
  console.warn(`skipped: tests of recorded provider answers, because there are none at ${RECORDINGS}`);

/** Folders of providers that speak the OpenAI chat format. */
export const OPENAI_CHAT_FOLDERS = [
  "alibaba",
  "deepseek-chat",
  "groq",
  "mistral",
  "moonshotai",
  "openai-chat",
  "openai-compatible-chat",
  "perplexity",
  "xai",
] as const;

/** A recording. */
export interface Recording {
  /** `folder/file`. */
  readonly name: string;
  readonly text: string;
}

/** Returns the streams of a folder as they were received. */
export function readStreams(folder: string): Recording[] {
  return readFolder(folder).flatMap(({ name, text }) => {
    if (name.endsWith(".sse")) return [{ name, text }];
    if (!name.endsWith(".chunks.txt")) return [];
    const events = text.split("\n").filter((line) => line.trim() !== "");
    return [{ name, text: `${[...events, "[DONE]"].map((event) => `data: ${event}\n\n`).join("")}` }];
  });
}

/** Returns the events of a folder's streams, one per line, without SSE framing. */
export function readLines(folder: string): Recording[] {
  return readFolder(folder).filter(({ name }) => name.endsWith(".chunks.txt"));
}

/** Returns the answers of a folder that were not streamed. */
export function readAnswers(folder: string): Recording[] {
  return readFolder(folder).filter(({ name }) => name.endsWith(".json"));
}

/** Returns the answers of a folder, hand-written ones first. */
function readFolder(folder: string): Recording[] {
  return [HANDMADE, RECORDINGS].flatMap((root) => {
    const directory = join(root, folder);
    if (!existsSync(directory)) return [];
    return readdirSync(directory)
      .sort()
      .map((file) => ({ name: `${folder}/${file}`, text: readFileSync(join(directory, file), "utf8") }));
  });
}
