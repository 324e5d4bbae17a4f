import type { ChunkPattern } from "./chunk-pattern.ts";

/** Reasoning and text, before and after the vendor has changed a field. */
const MAX_PATTERNS = 4;

const NONE: readonly ChunkPattern[] = [];

/** The patterns of each deployment's streams, the newest first. */
const known = new WeakMap<object, readonly ChunkPattern[]>();

/** Returns the patterns of earlier streams of a deployment; none if it is undefined. */
export function recallPatterns(deployment: object | undefined): readonly ChunkPattern[] {
  return (deployment && known.get(deployment)) ?? NONE;
}

/** Keeps a pattern for later streams of the deployment. */
export function keepPattern(deployment: object | undefined, pattern: ChunkPattern): void {
  // The place of a call's arguments belongs to one stream.
  if (deployment === undefined || pattern.place.field === "arguments") return;
  const others = recallPatterns(deployment).filter((other) => !other.equals(pattern));
  known.set(deployment, [pattern, ...others].slice(0, MAX_PATTERNS));
}
