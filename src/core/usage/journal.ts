/**
 * An append-only file of entries that the store does not have yet. What has been `flush`ed outlives the process,
 * `kill -9` included.
 */
export interface Journal {
  /** Adds an entry, one line of text without line breaks. It is in the file with the next `flush`. */
  append(entry: string): void;
  /** Puts what was appended into the file now. Cheap when there is nothing. */
  flush(): void;
  /** A mark after everything appended so far, for `release`. */
  mark(): number;
  /** The store has everything before the mark: drops it. */
  release(mark: number): void;
  /** Entries that an earlier process left, those it had set aside first, then oldest first. A torn last line is left out; damaged lines are left out and kept aside. */
  recover(): readonly string[];
  /** Sets these entries aside, in place of those set aside before: `release` leaves them, `recover` gives them again. */
  skipped(entries: readonly string[]): void;
  /** Flushes and closes. */
  close(): void;
}

/** Lines of a journal file that are not what was written, kept as they were found. */
export interface DamagedLines {
  /** The file that they are kept in. */
  readonly file: string;
  readonly lines: number;
  /** Ids of generations that can still be read in them, each once. */
  readonly generations: readonly string[];
}
