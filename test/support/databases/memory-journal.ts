import type { Journal } from "../../../src/core/usage/journal/journal.ts";
import { frameEntry } from "../clients/frame-entry.ts";

/** Returns a journal in memory. Nothing fails, and nothing survives the process. */
export function createMemoryJournal(): Journal {
  const entries = new Map<number, string>();
  let next = 0;
  let bytes = 0;
  return {
    append(text, frame) {
      const entry = frameEntry(text, frame);
      entries.set(next, entry);
      bytes += entry.length;
      next += 1;
      return next - 1;
    },
    flush() {},
    read: (at) => entries.get(at) ?? null,
    size: () => bytes,
    mark: () => next,
    release(before) {
      for (const [at, entry] of entries) {
        if (at >= before) return;
        entries.delete(at);
        bytes -= entry.length;
      }
    },
    recover: () => [],
    skipped() {},
    close() {},
  };
}
