import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import type { DocumentSource } from "../../http/context/document-source.ts";

/** Files of other types, such as measured figures, are not served. */
const SERVED = /\.(md|svg|webp)$/;

/** Opens the folder of the documents. Nothing is read before the first request for a page. */
export function openDocuments(folder: string): DocumentSource {
  let listing: Promise<ReadonlyMap<string, string>> | null = null;
  return {
    list() {
      listing ??= listFiles(folder).catch((error: unknown) => {
        listing = null;
        throw error;
      });
      return listing;
    },
  };
}

async function listFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const paths = entries
    .filter((entry) => entry.isFile() && SERVED.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.sort().map((path) => [relative(folder, path), path]));
}
