/** An append-only file of entries that the store does not have yet. Flushed entries survive the process, also after `kill -9`. */
export interface Journal {
  /** Adds an entry, one line of text without line breaks. It is in the file with the next `flush`. */
  append(entry: string): void;
  /** Writes what was appended to the file. Cheap if there is nothing to write. */
  flush(): void;
  /** Returns a mark behind everything that was appended so far, for `release`. */
  mark(): number;
  /** Drops everything before the mark, because the store has it. */
  release(mark: number): void;
  /** Returns the entries that an earlier process left: first the skipped ones, then the others, oldest first. Leaves out an incomplete last line, and moves damaged lines to another file. */
  recover(): readonly string[];
  /** Replaces the skipped entries: those that `release` keeps and `recover` returns again. */
  skipped(entries: readonly string[]): void;
  /** Flushes and closes. */
  close(): void;
}

/** Damaged lines of a journal file, stored unchanged. */
export interface DamagedLines {
  /** The file that contains them. */
  readonly file: string;
  readonly lines: number;
  /** The distinct ids of generations that can still be read in them. */
  readonly generations: readonly string[];
}
