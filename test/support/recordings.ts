import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where recorded provider answers stand beside the project; they are not part of it. */
export const RECORDINGS = join(import.meta.dir, "../../../shared/wire");

/** Whether the recordings are there. Without them their tests skip, but not in CI. */
export const hasRecordings = existsSync(RECORDINGS);
if (!hasRecordings) {
  const problem = `no recorded provider answers at ${RECORDINGS}; their tests are skipped`;
  if (process.env["CI"] === "true") throw new Error(problem);
  console.warn(problem);
}

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

/** Streams of a folder as they were on the wire. */
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

function readFolder(folder: string): Recording[] {
  if (!hasRecordings) return [];
  return readdirSync(join(RECORDINGS, folder))
    .sort()
    .map((file) => ({
      name: `${folder}/${file}`,
      text: readFileSync(join(RECORDINGS, folder, file), "utf8"),
    }));
}
