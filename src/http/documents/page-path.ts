import { posix } from "node:path";

/** A link of a page, resolved. */
export interface Target {
  /** The file that it leads to, as the document source names it. */
  readonly file: string;
  /** The part after the file: `#anchor`, or nothing. */
  readonly anchor: string;
}

const INDEX = "README.md";

/** Returns the URL path of a file without its first slash: `docs/operations/install`. A file README.md has the path of its folder. */
export function urlPathOf(file: string): string {
  const path = posix.join("docs", file);
  if (posix.basename(path) === INDEX) return posix.dirname(path);
  return path.replace(/\.md$/, "");
}

/** Returns the file at the URL path below `/docs`; null if there is none. */
export function findFile(files: ReadonlyMap<string, string>, path: string): string | null {
  const candidates = [path, `${path}.md`, posix.join(path, INDEX)];
  return candidates.find((file) => files.has(file)) ?? null;
}

/** Returns a relative URL, which also works where a proxy serves the gateway below a path. Both paths are without their first slash. */
export function relativeUrl(from: string, to: string): string {
  return "../".repeat(from.split("/").length - 1) + to;
}

/** Resolves a link in a file. Returns null if it leads to no file of the documents, such as one of the sources. */
export function resolveLink(files: ReadonlyMap<string, string>, from: string, href: string): Target | null {
  const [path = "", ...anchors] = href.split("#");
  const anchor = anchors.length === 0 ? "" : `#${anchors.join("#")}`;
  if (path === "") return { file: from, anchor };
  const file = findFile(files, posix.join(posix.dirname(from), path));
  return file === null ? null : { file, anchor };
}
