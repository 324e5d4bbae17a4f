import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where recorded provider answers are found next to the project; they are not part of it. */
export const RECORDINGS = join(import.meta.dir, "../../../shared/wire");

/** Answers written by hand in each provider's documented shape. They are part of the project, so that every format has some. */
const HANDMADE = join(import.meta.dir, "handmade");

/** Whether recorded answers are available. Tests that need a particular one, or many, are skipped without them. */
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

/** Streams of a folder as they were received. */
export function readStreams(folder: string): Recording[] {
  return readFolder(folder).flatMap(({ name, text }) => {
    if (name.endsWith(".sse")) return [{ name, text }];
    if (!name.endsWith(".chunks.txt")) return [];
    const events = text.split("\n").filter((line) => line.trim() !== "");
    return [{ name, text: `${[...events, "[DONE]"].map((event) => `data: ${event}\n\n`).join("")}` }];
  });
}

/** The lines of a folder's streams, one event each, without their framing. */
export function readLines(folder: string): Recording[] {
  return readFolder(folder).filter(({ name }) => name.endsWith(".chunks.txt"));
}

/** Answers of a folder that were not streamed. */
export function readAnswers(folder: string): Recording[] {
  return readFolder(folder).filter(({ name }) => name.endsWith(".json"));
}

/** The answers of a folder, hand-made ones first. */
function readFolder(folder: string): Recording[] {
  return [HANDMADE, RECORDINGS].flatMap((root) => {
    const directory = join(root, folder);
    if (!existsSync(directory)) return [];
    return readdirSync(directory)
      .sort()
      .map((file) => ({ name: `${folder}/${file}`, text: readFileSync(join(directory, file), "utf8") }));
  });
}
